import PostgreSQLServer
import PostgreSQLStore
import StoreContract
import Testing
import Verification

/// An empty database on a server that tests share, with the key that its events are tied by.
struct TestDatabase {
    /// Tests that run at once open more connections together than a server takes by itself.
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

    /// Opens it, as each process would.
    func open(
        timeout: Duration = .seconds(20), connections: PostgreSQLStore.Connections = .standard
    ) throws -> PostgreSQLStore {
        // Longer than in production: the machine may be busy with other tests.
        try PostgreSQLStore(
            connecting: try #require(PostgreSQLAddress(url)), key: keys.auditKey,
            timeout: timeout, connections: connections)
    }

    /// Runs SQL as the superuser; its rows, a line each.
    @discardableResult
    func query(_ sql: String) throws -> String { try server.query(sql, in: url) }
}
