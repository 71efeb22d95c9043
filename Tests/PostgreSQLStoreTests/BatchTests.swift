import PostgreSQLServer
import StoreContract
import Testing
import Verification

@testable import PostgreSQLStore

/// The commits that share a transaction, and the effect of a member's failure on the other members.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct BatchTests {
    @Test(
        "commits share transactions as the contract specifies", arguments: StoreContract.groupRules
    )
    func rules(rule: StoreContract.GroupRule) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await rule.check(
            StoreContract.GroupSubject(
                StoreContract.Subject(store, key: database.keys.auditKey),
                refusal: StoreFailure(.damaged, code: "22003"),
                together: { try await database.waitingTogether(store, count: $0, $1) },
                // The blocking commit has its own transaction.
                transactions: { max(try database.transactions() - 1, 0) }))
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
            // A different row has this fingerprint. Members that try to set the fingerprint wait
            // for each other.
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

    @Test("stores lock common rows in the same order, regardless of the order of the changes")
    func deadlocks() async throws {
        let database = try TestDatabase()
        let stores = [
            try database.open(reading: 1, writing: 2),
            try database.open(reading: 1, writing: 2),
        ]
        for number in 0..<20 {
            _ = try await stores[0].commit([.insertCredential(.sample(number))])
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<8 {
                group.addTask {
                    for round in 0..<25 {
                        // Half of the callers use the reverse order, so that both orders are used
                        // at once.
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
