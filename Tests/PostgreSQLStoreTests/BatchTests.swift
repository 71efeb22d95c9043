import PostgreSQLServer
import StoreContract
import Testing
import Verification

@testable import PostgreSQLStore

/// Which commits share a transaction, and how a member's failure affects the others.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql-15 is missing"))
struct BatchTests {
    @Test("commits that wait at the same time share one transaction")
    func together() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        let outcomes = try await database.waitingTogether(store, count: 50) { index in
            [.insertCredential(.sample(index)), .appendEvent(.sample(index))]
        }
        #expect(outcomes == Array(repeating: .success(.done), count: 50))
        #expect(try database.transactions() == 2)
        #expect(try database.audit().isWhole(events: 51))
    }

    @Test(
        "a commit that fails, or whose condition does not hold, does not affect the rest of its batch"
    )
    func spoiled() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.insertCredential(.sample(200, fingerprint: 1))])
        let outcomes = try await database.waitingTogether(store, count: 40) { index in
            let own: [StoreChange] = [
                .appendEvent(.sample(index)), .insertCredential(.sample(index)),
            ]
            return switch index % 4 {
            case 0: own
            case 1:
                own + [
                    index % 8 == 1
                        ? .spendTicket(digest: TicketRow.sample(index).digest)
                        : .spendChallenge(digest: ChallengeRow.sample(index).digest)
                ]
            case 2: own + [.updateCredential(.sample(100 + index, version: 2))]
            // The column cannot hold this version.
            default: own + [.insertCredential(.sample(100 + index, version: .max))]
            }
        }
        for (index, outcome) in outcomes.enumerated() {
            switch index % 4 {
            case 0: #expect(outcome == .success(.done))
            case 1, 2: #expect(outcome == .success(.conflict))
            default: #expect(outcome == .failure(StoreFailure(.damaged, code: "22003")))
            }
            let row = try await store.credential(.sample(index))
            #expect((row != nil) == (index % 4 == 0))
        }
        let events = try await store.events(after: 0, limit: 100).compactMap { $0.event?.number }
        #expect(Set(events) == Set(stride(from: 0, to: 40, by: 4).map(Int64.init) + [1_000]))
        #expect(try database.audit().findings == [])
    }

    @Test("a violated constraint is reported only to the commit that violated it")
    func refused() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([
            .insertCredential(.sample(200, fingerprint: 1)), .insertCredential(.sample(201)),
        ])
        try database.query(
            "ALTER TABLE watchword.tickets ADD CHECK (expires_at < 1700000000000 + 500000)")
        let outcomes = try await database.waitingTogether(store, count: 12) { index in
            switch index % 3 {
            case 0: [.insertTicket(.sample(index))]
            case 1: [.insertTicket(.sample(index, expiresAt: 1_000))]
            // Another row has this fingerprint; members that try to set it wait for each other.
            default: [.updateCredential(.sample(201, version: 2, fingerprint: 1))]
            }
        }
        for (index, outcome) in outcomes.enumerated() {
            switch index % 3 {
            case 0: #expect(outcome == .success(.done))
            case 1: #expect(outcome == .failure(StoreFailure(.damaged, code: "23514")))
            default: #expect(outcome == .success(.conflict))
            }
        }
        #expect(try await store.credential(.sample(201)) == .sample(201))
    }

    @Test("commits in one batch that touch the same row take effect one after the other")
    func inOrder() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.insertTicket(.sample(1))])
        let outcomes = try await database.waitingTogether(store, count: 20) { _ in
            [.spendTicket(digest: TicketRow.sample(1).digest)]
        }
        #expect(outcomes.count { $0 == .success(.done) } == 1)
        #expect(outcomes.count { $0 == .success(.conflict) } == 19)
    }

    @Test("stores lock common rows in the same order, whatever the order of the changes")
    func deadlocks() async throws {
        let database = try TestDatabase()
        let connections = PostgreSQLVerificationStore.Connections(reading: 1, writing: 2)
        let stores = [
            try database.open(connections: connections),
            try database.open(connections: connections),
        ]
        for number in 0..<20 {
            _ = try await stores[0].commit([.insertCredential(.sample(number))])
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<8 {
                group.addTask {
                    for round in 0..<25 {
                        // Half of the callers use the reverse order, so that both are used at once.
                        let numbers = (0..<6).map { ($0 * 3 + round) % 20 }
                        let order = caller.isMultiple(of: 2) ? numbers : numbers.reversed()
                        var changes: [StoreChange] = []
                        for number in order {
                            let row = try await stores[caller % 2].credential(.sample(number))
                            changes.append(.updateCredential(try #require(row).next(body: [1])))
                        }
                        _ = try await stores[caller % 2].commit(changes)
                    }
                }
            }
            try await group.waitForAll()
        }
        // The server publishes a session's statistics when the session ends.
        for store in stores { store.close() }
        #expect(
            try database.query(
                "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == "0")
    }
}
