public import Verification
import WatchwordCryptography

extension StoreContract {
    static let eventRules = [
        Rule("events are ordered by their commits, and their chain is complete") { subject in
            var expected: [Event] = []
            for number in 0..<10 {
                // The stores take turns to append, as two processes would.
                let store = number.isMultiple(of: 3) ? subject.store : subject.second
                let events = [Event.sample(number), .sample(100 + number, at: Int64(-number))]
                let changes = events.map { StoreChange.appendEvent($0) }
                try expectEqual(try await store.commit(changes), .done)
                expected += events
            }
            try await expectEvents(expected, in: subject)
            try expectEqual(try await audit(subject), [])
        },
        Rule("reading on from the last position skips no event and repeats none") { subject in
            for number in 0..<10 {
                _ = try await subject.store.commit([.appendEvent(.sample(number))])
            }
            let all = try await subject.store.events(after: 0, limit: 100)
            try expectEqual(all.count, 10)
            try expect(
                zip(all, all.dropFirst()).allSatisfy { $0.position < $1.position }, "order")
            for limit in [1, 3, 10, 11] {
                var read: [ChainedEvent] = []
                while true {
                    let page = try await subject.second.events(
                        after: read.last?.position ?? 0, limit: limit)
                    if page.isEmpty { break }
                    read += page
                }
                try expectEqual(read, all)
            }
        },
        Rule("V-06 a dummy event is neither stored nor chained") { subject in
            // A store may begin an empty chain for each of its writers.
            func used() async throws -> [ChainRecord] {
                try await subject.store.chains().filter { $0.head.sequence > 0 }
            }
            for (number, store) in [subject.store, subject.second, subject.store].enumerated() {
                let chains = try await used()
                let dummy = [StoreChange.writeDummyEvent(.sample(100))]
                // As many as in a busy transaction, some of them in one slot.
                for outcome in try await race(20, { _ in try await store.commit(dummy) }) {
                    try expectEqual(outcome, .done)
                }
                try expectEqual(try await used(), chains)
                let mixed = dummy + [.appendEvent(.sample(number)), .writeDummyEvent(.sample(101))]
                try expectEqual(try await store.commit(mixed), .done)
                try expectEqual(try await audit(subject), [])
            }
            try await expectEvents((0..<3).map { .sample($0) }, in: subject)
        },
        Rule("V-06 O-08 a dummy answer is not stored, but needs a key that is free") { subject in
            let store = subject.store
            let dummy = [StoreChange.writeDummyAnswer(.sample(1)), .writeDummyEvent(.sample(1))]
            let outcomes = try await race(20) { number in
                try await store.commit(dummy + [.writeDummyAnswer(.sample(2 + number))])
            }
            for outcome in outcomes { try expectEqual(outcome, .done) }
            try expectEqual(try await store.keyUsage(), [])
            for number in 1...21 {
                let key = AnswerRow.sample(number).key
                try expectEqual(try await subject.second.answer(key: key), nil)
            }
            try expectEqual(try await store.commit([.insertAnswer(.sample(1))]), .done)
            for store in [store, subject.second] {
                try expectEqual(try await store.commit(dummy), .conflict)
            }
            try expectEqual(try await store.answer(key: AnswerRow.sample(1).key), .sample(1))
        },
        Rule("the chain's recorded end is its last event, and authentic") { subject in
            for number in 0..<3 {
                _ = try await subject.store.commit([.appendEvent(.sample(number))])
                let last = try await subject.second.events(after: 0, limit: 100).last
                let heads = try await subject.second.chains().map(\.head)
                try expect(
                    heads.contains { $0.node == last?.node && $0.digest == last?.digest }, "head")
                for head in heads { try expect(subject.key.isAuthentic(head), "authentic") }
            }
        },
    ]

    static let pruningRules = [
        Rule("pruning deletes what has expired and nothing else") { subject in
            let store = subject.store
            let staying: [CredentialRow] = [
                .sample(1, state: .pending, lapsesAt: 11), .sample(2),
                // An active row does not lapse, even if `lapsesAt` is set, nor does an ended row
                // that proves something.
                .sample(3, lapsesAt: 1), .sample(4, state: .revoked, fingerprint: 1),
                .sample(8, state: .revoked, lapsesAt: 11),
            ]
            let going: [CredentialRow] = [
                .sample(5, state: .pending, fingerprint: 2, lapsesAt: 10),
                .sample(6, state: .pending, lapsesAt: 1),
                .sample(10, state: .revoked, lapsesAt: 10),
                .sample(11, state: .disabled, lapsesAt: 1),
            ]
            for row in staying + going { _ = try await store.commit([.insertCredential(row)]) }
            for second: Int64 in [9, 10, 11] {
                _ = try await store.commit([
                    .insertTicket(.sample(Int(second), expiresAt: second)),
                    .insertChallenge(.sample(Int(second), expiresAt: second)),
                    .insertAnswer(.sample(Int(second), expiresAt: second)),
                ])
            }
            let outcome = try await store.prune(Pruning(now: .at(10)))
            try expectEqual(
                outcome,
                PruningOutcome(credentials: 4, tickets: 2, challenges: 2, answers: 2))
            let left = try await store.credentials(.under(nil, after: nil), limit: 100)
            try expectEqual(Set(left), Set(staying))
            for number in [9, 10, 11] {
                let bytes = sampleBytes(number, count: 32)
                try expectEqual(try await store.ticket(digest: bytes) != nil, number == 11)
                try expectEqual(try await store.challenge(digest: bytes) != nil, number == 11)
                try expectEqual(try await store.answer(key: bytes) != nil, number == 11)
            }
            // The fingerprint of an enrolment that lapsed can be used again.
            try expectEqual(
                try await store.commit([.insertCredential(.sample(7, fingerprint: 2))]), .done)
        },
        Rule("O-06 pruning a lapsed enrolment deletes its secrets from answers") {
            subject in
            let store = subject.store
            for number in 1...2 {
                let lapse = number == 1 ? 10 : 11 as Int64
                _ = try await store.commit([
                    .insertCredential(.sample(number, state: .pending, lapsesAt: lapse)),
                    .insertAnswer(.sample(number, credential: number, expiresAt: 99)),
                ])
            }
            try expectEqual(try await store.prune(Pruning(now: .at(10))).credentials, 1)
            for number in 1...2 {
                let row = try await store.answer(key: sampleBytes(number, count: 32))
                try expectEqual(
                    row,
                    .sample(
                        number, credential: number, key: number == 1 ? nil : 1, expiresAt: 99))
            }
        },
        Rule("pruning without a time deletes no lapsed rows") { subject in
            let store = subject.store
            _ = try await store.commit([
                .insertTicket(.sample(1, expiresAt: 0)), .insertAnswer(.sample(1, expiresAt: 0)),
                .insertChallenge(.sample(1, expiresAt: 0)),
                .insertCredential(.sample(1, state: .pending, lapsesAt: 0)),
                .appendEvent(.sample(1)),
            ])
            try expectEqual(
                try await store.prune(Pruning(now: nil, eventsBefore: .at(9))),
                PruningOutcome(events: 1))
        },
        Rule("pruning deletes at most its limit per call, and the rest in later calls") { subject in
            let store = subject.store
            for number in 0..<25 {
                _ = try await store.commit([
                    .insertTicket(.sample(number)), .insertChallenge(.sample(number)),
                    .insertAnswer(.sample(number)),
                    .insertCredential(.sample(number, state: .pending, lapsesAt: 0)),
                    .appendEvent(.sample(number)),
                ])
            }
            let pruning = Pruning(now: .at(1_000), eventsBefore: .at(1_000), limit: 10)
            for count in [10, 10, 5, 0] {
                try expectEqual(
                    try await store.prune(pruning),
                    PruningOutcome(
                        credentials: count, tickets: count, challenges: count, answers: count,
                        events: count))
            }
        },
        Rule("pruning deletes only the oldest events, and the chain stays valid") { subject in
            let store = subject.store
            // The clock was set back after the fifth event.
            let seconds: [Int64] = [0, 1, 2, 3, 100, 4, 5, 6]
            for (number, second) in seconds.enumerated() {
                _ = try await store.commit([.appendEvent(.sample(number, at: second))])
            }
            let all = try await store.events(after: 0, limit: 100)
            for (before, left) in [(Int64(0), 8), (2, 6), (50, 4), (50, 4), (101, 0)] {
                _ = try await store.prune(Pruning(now: .at(0), eventsBefore: .at(before)))
                let kept = try await store.events(after: 0, limit: 100)
                try expectEqual(kept, Array(all.suffix(left)))
                try expectEqual(try await audit(subject), [])
            }
            // Positions and sequence numbers continue.
            _ = try await subject.second.commit([.appendEvent(.sample(50))])
            let next = try await store.events(after: 0, limit: 100)
            try expectEqual(next.count, 1)
            try expect(next[0].position > all[7].position, "a position was used again")
            try expectEqual(try await audit(subject), [])
        },
    ]

    /// Audits the store's chains.
    public static func audit(_ subject: Subject) async throws -> [AuditTrail.Finding] {
        var trail = AuditTrail(chains: try await subject.store.chains(), key: subject.key)
        for event in try await subject.store.events(after: 0, limit: 100_000) {
            trail.check(event)
        }
        return trail.findings()
    }

    static func expectEvents(_ expected: [Event], in subject: Subject) async throws {
        let stored = try await subject.store.events(after: 0, limit: 100_000)
        try expectEqual(stored.compactMap(\.event), expected)
        try expectEqual(stored.map(\.time), expected.map(\.time))
    }
}

extension PruningOutcome {
    /// The outcome of deleting these numbers of rows.
    public init(
        credentials: Int = 0, tickets: Int = 0, challenges: Int = 0, answers: Int = 0,
        events: Int = 0
    ) {
        self.init()
        self.credentials = credentials
        self.tickets = tickets
        self.challenges = challenges
        self.answers = answers
        self.events = events
    }
}
