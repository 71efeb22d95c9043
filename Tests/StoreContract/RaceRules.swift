import Verification

extension StoreContract {
    static let raceRules = [
        Rule("one of fifty writers of the same row version wins") { subject in
            let stores = [subject.store, subject.second]
            _ = try await subject.store.commit([.insertCredential(.sample(1))])
            for version: UInt64 in 2...6 {
                let outcomes = try await race(50) { index in
                    try await stores[index % 2].commit([
                        .updateCredential(.sample(1, version: version, body: index)),
                        .insertTicket(.sample(Int(version) * 100 + index)),
                        .appendEvent(.sample(index)),
                    ])
                }
                let winners = outcomes.indices.filter { outcomes[$0] == .done }
                try expectEqual(winners.count, 1)
                try expectEqual(
                    try await subject.second.credential(.sample(1)),
                    .sample(1, version: version, body: winners[0]))
                for index in 0..<50 {
                    let digest = TicketRow.sample(Int(version) * 100 + index).digest
                    let ticket = try await subject.store.ticket(digest: digest)
                    try expectEqual(ticket != nil, index == winners[0])
                }
            }
            try expectEqual(try await subject.store.events(after: 0, limit: 100).count, 5)
            try expectEqual(try await audit(subject), [])
        },
        Rule("of fifty commits that end one of two rows and keep the other, one wins") { subject in
            let stores = [subject.store, subject.second]
            _ = try await subject.store.commit([
                .insertCredential(.sample(1)), .insertCredential(.sample(2)),
            ])
            let outcomes = try await race(50) { index in
                let (changed, kept) = index % 2 == 0 ? (1, 2) : (2, 1)
                return try await stores[index / 2 % 2].commit([
                    .updateCredential(.sample(changed, state: .revoked, version: 2)),
                    .updateCredential(.sample(kept, version: 2)), .appendEvent(.sample(index)),
                ])
            }
            try expectEqual(outcomes.count { $0 == .done }, 1)
            let alice = Verification.Subject.sample("alice")
            let alive = try await subject.second.credentials(.alive(of: alice), limit: 3)
            try expectEqual(alive.count, 1)
            try expectEqual(try await audit(subject), [])
        },
        Rule("fifty writers that retry after losing a race each write exactly once") { subject in
            let stores = [subject.store, subject.second]
            _ = try await subject.store.commit([.insertCredential(.sample(1, body: 0))])
            _ = try await race(50) { index in
                let store = stores[index % 2]
                var tries = 0
                while true {
                    guard let row = try await store.credential(.sample(1)) else {
                        throw ContractBreach(description: "the row is missing")
                    }
                    let change = StoreChange.updateCredential(
                        .sample(1, version: row.version + 1, body: Int(row.version)))
                    let event = StoreChange.appendEvent(.sample(index))
                    if try await store.commit([change, event]) == .done { return tries }
                    tries += 1
                    // Every round has a winner, so no writer loses more often than there are
                    // other writers.
                    try expect(tries <= 50, "no writer wins")
                }
            }
            let row = try await subject.store.credential(.sample(1))
            try expectEqual(row, .sample(1, version: 51, body: 50))
            let events = try await subject.store.events(after: 0, limit: 100)
            try expectEqual(Set(events.compactMap { $0.event?.number }), Set(0..<50))
            try expectEqual(try await audit(subject), [])
        },
        Rule("fifty enrolments for one subject succeed up to the subject's limit") { subject in
            let stores = [subject.store, subject.second]
            let alice = Verification.Subject.sample("alice")
            // Rows of other subjects and revoked rows do not count towards the limit.
            _ = try await subject.store.commit([
                .insertCredential(.sample(90, subject: "bob")),
                .insertCredential(.sample(91, state: .revoked)), .insertCredential(.sample(92)),
            ])
            let outcomes = try await race(50) { index in
                try await stores[index % 2].commit([
                    .requireCapacity(for: alice, limit: 32), .insertCredential(.sample(index)),
                ])
            }
            try expectEqual(outcomes.count { $0 == .done }, 31)
            let rows = try await subject.store.credentials(.alive(of: alice), limit: 100)
            try expectEqual(rows.count, 32)
            // Revoking a credential makes room within the same commit.
            let change = [
                StoreChange.updateCredential(.sample(92, state: .revoked, version: 2)),
                .requireCapacity(for: alice, limit: 32), .insertCredential(.sample(93)),
            ]
            try expectEqual(try await subject.second.commit(change), .done)
            try expectEqual(
                try await subject.second.commit([
                    .requireCapacity(for: alice, limit: 32), .insertCredential(.sample(94)),
                ]), .conflict)
            try expectEqual(try await subject.store.credential(.sample(94)), nil)
        },
        Rule("T-04 one of fifty enrolments of the same seed succeeds") { subject in
            let stores = [subject.store, subject.second]
            let outcomes = try await race(50) { index in
                try await stores[index % 2].commit([
                    .insertCredential(.sample(index, fingerprint: 1))
                ])
            }
            try expectEqual(outcomes.filter { $0 == .done }.count, 1)
        },
        Rule("one of fifty commits that spend one ticket or store one answer succeeds") { subject in
            let stores = [subject.store, subject.second]
            _ = try await subject.store.commit([.insertTicket(.sample(1))])
            for change in [
                StoreChange.spendTicket(digest: TicketRow.sample(1).digest),
                .insertAnswer(.sample(1)),
            ] {
                let outcomes = try await race(50) { index in
                    try await stores[index % 2].commit([.appendEvent(.sample(index)), change])
                }
                try expectEqual(outcomes.filter { $0 == .done }.count, 1)
            }
            try expectEqual(try await subject.store.events(after: 0, limit: 100).count, 2)
        },
        Rule("a hundred commits without common rows all succeed") { subject in
            let stores = [subject.store, subject.second]
            let outcomes = try await race(100) { index in
                try await stores[index % 2].commit([
                    .insertCredential(.sample(index)), .appendEvent(.sample(index)),
                ])
            }
            try expectEqual(outcomes, Array(repeating: .done, count: 100))
            let rows = try await subject.store.credentials(.under(nil, after: nil), limit: 200)
            try expectEqual(rows.count, 100)
            try expectEqual(try await audit(subject), [])
        },
    ]

    /// Runs `count` tasks at the same time and returns their results by number.
    static func race<Result: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            for index in 0..<count {
                group.addTask { (index, try await body(index)) }
            }
            var results: [Int: Result] = [:]
            for try await (index, result) in group { results[index] = result }
            return (0..<count).compactMap { results[$0] }
        }
    }
}
