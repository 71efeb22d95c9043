import PostgreSQLServer
import PostgreSQLStore
import SQLStore
import StoreContract
import Testing
import Verification

/// An empty database on a server that the tests share, with the key that authenticates its events.
struct TestDatabase {
    /// Concurrent tests open more connections than a server allows by default.
    private static let shared = Result {
        try PostgreSQLServer.start(settings: ["max_connections": "500"])
    }

    let server: PostgreSQLServer
    let url: String
    let keys: KeyRing

    init(on server: PostgreSQLServer? = nil) throws {
        let chosen = try server ?? Self.shared.get()
        self.server = chosen
        url = try chosen.makeDatabase()
        keys = StoreKeys.known
    }

    /// Opens the database as a separate process would.
    func open(
        timeout: Duration = .seconds(20),
        reading: Int = 2, writing: Int = 1,
        clock: (@Sendable () -> Int64)? = nil
    ) throws -> PostgreSQLVerificationStore {
        // The timeout is longer than in production, because the machine may be busy with other
        // tests.
        try PostgreSQLVerificationStore(
            connecting: try #require(PostgreSQLAddress(url)), key: keys.auditKey,
            connections: .init(reading: reading, writing: writing, timeout: timeout), clock: clock)
    }

    /// Recovers the database after a rollback.
    @discardableResult func settle(
        _ options: RestoreOptions
    ) throws -> (report: RestoreReport, end: AcknowledgedCheckpoint) {
        try PostgreSQLVerificationStore.settle(
            try #require(PostgreSQLAddress(url)), key: keys.auditKey, options)
    }

    /// Runs SQL as the superuser and returns one line per row.
    @discardableResult
    func query(_ sql: String) throws -> String { try server.query(sql, in: url) }
}
