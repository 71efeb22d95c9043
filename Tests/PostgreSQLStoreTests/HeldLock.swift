import StoreContract
import Synchronization
import Testing
import Verification

@testable import PostgreSQLStore

/// A separate connection that holds a lock until it is released.
final class HeldLock: @unchecked Sendable {
    // `@unchecked Sendable` is safe: a test uses it from one task at a time.
    private let connection: PostgreSQLConnection

    /// Runs `statement` in a transaction that stays open.
    init(_ database: TestDatabase, _ statement: String) throws {
        connection = try PostgreSQLConnection(try #require(PostgreSQLAddress(database.url)))
        try connection.execute("BEGIN; \(statement)")
    }

    /// Locks the row that every transaction locks last, so that later commits wait together.
    static func counter(_ database: TestDatabase) throws -> HeldLock {
        try HeldLock(database, "SELECT position FROM watchword.counter FOR UPDATE")
    }

    func release() throws { try connection.execute("ROLLBACK") }
}

/// A flag that is set at the end of an action.
private final class End: Sendable {
    private let value = Mutex(false)
    var exists: Bool { value.withLock { $0 } }
    func note() { value.withLock { $0 = true } }
}

extension TestDatabase {
    /// Commits all of `changes` together: the first commit is blocked until the others are waiting.
    func waitingTogether(
        _ store: PostgreSQLVerificationStore, count: Int,
        _ changes: @escaping @Sendable (Int) -> [StoreChange]
    ) async throws -> [Result<CommitOutcome, StoreFailure>] {
        let lock = try HeldLock.counter(self)
        let end = End()
        async let first = {
            defer { end.note() }
            return await outcome(store, [.appendEvent(.sample(1_000))])
        }()
        // If the wait times out on a busy machine, the test fails instead of waiting indefinitely.
        func expectWaiting() throws { try #require(!end.exists) }
        // After the first commit has started, the others must wait.
        while try query(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                + "AND wait_event_type = 'Lock'") != "1"
        {
            try expectWaiting()
            try await Task.sleep(for: .milliseconds(5))
        }
        async let others = withTaskGroup(
            of: (Int, Result<CommitOutcome, StoreFailure>).self
        ) { group in
            for index in 0..<count {
                group.addTask { (index, await outcome(store, changes(index))) }
            }
            var outcomes: [Int: Result<CommitOutcome, StoreFailure>] = [:]
            for await (index, outcome) in group { outcomes[index] = outcome }
            return (0..<count).compactMap { outcomes[$0] }
        }
        while store.writers.waiting < count {
            try expectWaiting()
            try await Task.sleep(for: .milliseconds(5))
        }
        try lock.release()
        #expect(await first == .success(.done))
        return await others
    }

    private func outcome(
        _ store: PostgreSQLVerificationStore, _ changes: [StoreChange]
    ) async -> Result<CommitOutcome, StoreFailure> {
        do throws(StoreFailure) { return .success(try await store.commit(changes)) } catch {
            return .failure(error)
        }
    }

    /// The number of transactions that wrote the events.
    func transactions() throws -> Int {
        try #require(Int(query("SELECT count(DISTINCT xmin::text) FROM watchword.events")))
    }

    func audit(checkpoints: [ChainCheckpoint] = []) throws -> AuditReport {
        try PostgreSQLVerificationStore.audit(
            at: try #require(PostgreSQLAddress(url)), key: keys.auditKey,
            checkpoints: checkpoints)
    }
}

extension AuditReport {
    /// Whether the audit found no problems among `events` events.
    func isWhole(events: Int) -> Bool { findings == [] && self.events == events }
}
