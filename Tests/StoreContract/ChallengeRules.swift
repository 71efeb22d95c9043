import Verification

extension StoreContract {
    static let challengeRules = [
        Rule("a challenge is read exactly as it was written, with each column at its limits") {
            subject in
            let rows =
                ChallengeRow.Purpose.allCases.enumerated().map { number, purpose in
                    ChallengeRow.sample(number, purpose: purpose)
                } + [
                    .sample(10, subject: nil, credential: nil),
                    .sample(11, subject: "b\u{e9}\r\n'\u{1f511}", credential: nil),
                    .sample(12, subject: nil, body: []),
                    ChallengeRow(
                        digest: sampleBytes(13, count: 32), purpose: .confirm,
                        subject: .sample(String(repeating: "x", count: 255)),
                        credential: .sample(13),
                        body: [UInt8](repeating: 0xff, count: ChallengeRow.maximumBodyCount),
                        createdAt: UnixTime(milliseconds: .min),
                        expiresAt: UnixTime(milliseconds: .max)),
                ]
            for row in rows {
                try expectEqual(try await subject.store.commit([.insertChallenge(row)]), .done)
                try expectEqual(try await subject.store.challenge(digest: row.digest), row)
                try expectEqual(try await subject.second.challenge(digest: row.digest), row)
            }
            let missing = sampleBytes(99, count: 32)
            try expectEqual(try await subject.store.challenge(digest: missing), nil)
        },
        Rule("a challenge is read together with the credential that answers it") { subject in
            let (row, credential) = (
                ChallengeRow.sample(1), CredentialRow.sample(1, fingerprint: 1)
            )
            _ = try await subject.store.commit([
                .insertChallenge(row), .insertCredential(credential),
            ])
            let missing = sampleBytes(99, count: 32)
            for store in [subject.store, subject.second] {
                for (digest, challenge) in [(row.digest, row), (missing, nil)] {
                    for (name, answering) in [
                        (.id(.sample(1)), credential), (.id(.sample(99)), nil),
                        (.fingerprint(credential.fingerprint ?? []), credential),
                        (.fingerprint(missing), nil),
                    ] as [(AnsweringCredential, CredentialRow?)] {
                        let found = try await store.challenge(digest: digest, answeredBy: name)
                        try expectEqual(found.challenge, challenge)
                        try expectEqual(found.credential, answering)
                    }
                }
            }
        },
        Rule("a challenge's digest is unique, and free again once the challenge is spent") {
            subject in
            let store = subject.store
            try expectEqual(try await store.commit([.insertChallenge(.sample(1))]), .done)
            let again = StoreChange.insertChallenge(.sample(1, subject: "bob"))
            try expectEqual(try await subject.second.commit([again]), .conflict)
            let digest = ChallengeRow.sample(1).digest
            try expectEqual(try await store.challenge(digest: digest), .sample(1))
            let renewing = [StoreChange.spendChallenge(digest: digest), again]
            try expectEqual(try await store.commit(renewing), .done)
            try expectEqual(
                try await store.challenge(digest: digest), .sample(1, subject: "bob"))
        },
        Rule("spending a challenge that does not exist is a conflict, and changes nothing") {
            subject in
            let store = subject.store
            try expectEqual(try await store.commit([.insertChallenge(.sample(1))]), .done)
            let spending = StoreChange.spendChallenge(digest: ChallengeRow.sample(1).digest)
            let missing = StoreChange.spendChallenge(digest: ChallengeRow.sample(2).digest)
            for changes in [
                [missing, .insertCredential(.sample(1)), .appendEvent(.sample(1))],
                [spending, .insertTicket(.sample(1)), missing], [spending, spending],
            ] {
                try expectEqual(try await store.commit(changes), .conflict)
            }
            try expectEqual(
                try await store.challenge(digest: ChallengeRow.sample(1).digest), .sample(1))
            try expectEqual(try await store.credential(.sample(1)), nil)
            try expectEqual(try await store.ticket(digest: TicketRow.sample(1).digest), nil)
            try expectEqual(try await store.events(after: 0, limit: 10), [])
            try expectEqual(try await subject.second.commit([spending]), .done)
            try expectEqual(try await store.commit([spending]), .conflict)
        },
        Rule("dropping a challenge deletes it if it exists, whatever else the commit does") {
            subject in
            let store = subject.store
            for number in 1...3 {
                _ = try await store.commit([.insertChallenge(.sample(number))])
            }
            func drop(_ number: Int) -> StoreChange {
                .dropChallenge(digest: ChallengeRow.sample(number).digest)
            }
            func exist() async throws -> [Bool] {
                var found: [Bool] = []
                for number in 1...4 {
                    let digest = ChallengeRow.sample(number).digest
                    found.append(try await subject.second.challenge(digest: digest) != nil)
                }
                return found
            }
            try expectEqual(
                try await store.commit([drop(1), .insertChallenge(.sample(4))]), .done)
            try expectEqual(try await exist(), [false, true, true, true])
            try expectEqual(try await subject.second.commit([drop(1), drop(2)]), .done)
            try expectEqual(try await exist(), [false, false, true, true])
            // A commit whose other condition fails drops nothing.
            try expectEqual(
                try await store.commit([drop(3), .insertChallenge(.sample(4))]), .conflict)
            try expectEqual(try await exist(), [false, false, true, true])
        },
        Rule("a challenge stays if another condition of the commit that spends it fails") {
            subject in
            let store = subject.store
            _ = try await store.commit([
                .insertChallenge(.sample(1)), .insertCredential(.sample(1)),
                .insertTicket(.sample(1)), .insertAnswer(.sample(1)),
            ])
            let spending = StoreChange.spendChallenge(digest: ChallengeRow.sample(1).digest)
            for failing: StoreChange in [
                .updateCredential(.sample(1, version: 3)), .insertTicket(.sample(1)),
                .insertAnswer(.sample(1)), .insertChallenge(.sample(1)),
                .requireCapacity(for: .sample("alice"), limit: 1),
            ] {
                // The inserted challenge would be free if it were spent first.
                for changes in [
                    [failing, spending], [.appendEvent(.sample(1)), failing, spending],
                ] {
                    try expectEqual(try await store.commit(changes), .conflict)
                    try expectEqual(
                        try await subject.second.challenge(digest: ChallengeRow.sample(1).digest),
                        .sample(1))
                }
            }
            try expectEqual(try await store.events(after: 0, limit: 10), [])
        },
        Rule("K-15 of fifty tasks that answer one challenge, one succeeds, in one commit") {
            subject in
            let stores = [subject.store, subject.second]
            let challenge = ChallengeRow.sample(1)
            _ = try await subject.store.commit([
                .insertChallenge(challenge), .insertCredential(.sample(1)),
            ])
            let outcomes = try await race(50) { index in
                // The credential's row does not decide the race: each task has its own.
                try await stores[index % 2].commit([
                    .spendChallenge(digest: challenge.digest),
                    .insertCredential(.sample(100 + index)), .insertTicket(.sample(100 + index)),
                    .insertAnswer(.sample(100 + index)), .appendEvent(.sample(index)),
                ])
            }
            let winners = outcomes.indices.filter { outcomes[$0] == .done }
            try expectEqual(winners.count, 1)
            try expectEqual(try await subject.store.challenge(digest: challenge.digest), nil)
            for index in 0..<50 {
                let digest = sampleBytes(100 + index, count: 32)
                let found = [
                    try await subject.second.credential(.sample(100 + index)) != nil,
                    try await subject.second.ticket(digest: digest) != nil,
                    try await subject.second.answer(key: digest) != nil,
                ]
                let expected = Array(repeating: index == winners.first, count: 3)
                try expectEqual(found, expected)
            }
            let events = try await subject.store.events(after: 0, limit: 100)
            try expectEqual(events.compactMap { $0.event?.number }, winners.map { Int64($0) })
            try expectEqual(try await audit(subject), [])
        },
        Rule("challenges can be pruned at a time of their own, and nothing else is") { subject in
            let store = subject.store
            func challenge(_ number: Int, until seconds: Int64) -> ChallengeRow {
                ChallengeRow(
                    digest: sampleBytes(number, count: 32), purpose: .assertion, subject: nil,
                    credential: nil, body: [1], createdAt: .at(0), expiresAt: .at(seconds))
            }
            _ = try await store.commit([
                .insertChallenge(challenge(1, until: 20)),
                .insertChallenge(challenge(2, until: 21)), .insertTicket(.sample(1)),
            ])
            let outcome = try await store.prune(Pruning(now: nil, challengesAt: .at(20)))
            try expectEqual(
                outcome,
                PruningOutcome(challenges: 1))
            try expectEqual(
                try await subject.second.challenge(digest: sampleBytes(1, count: 32)), nil)
            try expectEqual(
                try await subject.second.challenge(digest: sampleBytes(2, count: 32)),
                challenge(2, until: 21))
        },
    ]
}
