internal import Foundation
public import TestSupport

extension PostgreSQLServer {
    /// Creates an empty database, owned by the role `watchword`, which needs no password.
    ///
    /// - Returns: the URL to connect to.
    public func makeDatabase() throws -> String {
        let name = "test_\(UUID().uuidString.prefix(13).lowercased())"
            .replacingOccurrences(of: "-", with: "_")
        try query("CREATE DATABASE \(name) OWNER watchword")
        return url(name)
    }

    /// The URL for connecting to the database `name`.
    public func url(_ name: String, user: String = "watchword") -> String {
        PostgreSQLServer.url(name, user: user, of: [self])
    }

    /// The URL of a database that all these servers replicate.
    ///
    /// One of the servers accepts writes.
    public static func url(
        _ name: String, user: String = "watchword", of servers: [PostgreSQLServer]
    ) -> String {
        let hosts = servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        let target = servers.count > 1 ? "?target_session_attrs=read-write" : ""
        return "postgresql://\(user)@\(hosts)/\(name)\(target)"
    }

    /// Runs SQL as the superuser.
    ///
    /// - Parameter database: a name, or a URL on this server.
    /// - Returns: one line per row, with columns separated by `|`.
    @discardableResult
    public func query(_ sql: String, in database: String = "postgres") throws -> String {
        let name = database.split(separator: "/").last.map(String.init) ?? database
        let words = [
            "--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--set", "ON_ERROR_STOP=1",
            "--dbname", url(name, user: "postgres"), "--command", sql,
        ]
        return try PostgreSQLPrograms.run("psql", words).trimmingCharacters(in: .newlines)
    }
}

extension PostgreSQLServer {
    /// A client program of PostgreSQL.
    public static func program(_ name: String) -> ForeignProgram? {
        PostgreSQLPrograms.folder.map { ForeignProgram(path: "\($0)/\(name)") }
    }

    /// Waits until this call's own connection is the only connection to the database.
    ///
    /// A server continues a statement for a while after its client has disconnected.
    public func awaitNoClients(of database: String) throws {
        try poll("all clients disconnect") {
            let others = """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                AND pid <> pg_backend_pid() AND backend_type = 'client backend'
                """
            return try query(others, in: database) == "0"
        }
    }
}
