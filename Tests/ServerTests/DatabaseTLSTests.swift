import CommandLineInterface
import PostgreSQLServer
import TestSupport
import Testing

@testable import ServerCommands

/// The server program with a PostgreSQL database that accepts only TLS.
@Suite(.enabled(if: PostgreSQLServer.canSpeakTLS, "postgresql or openssl is missing"))
struct DatabaseTLSTests {
    /// The URL for the role whose password is in a file.
    private func guarded(_ url: String, authority: String) -> String {
        url.replacing("watchword@", with: "guarded@")
            + "?sslmode=verify-full&sslrootcert=\(authority)"
    }

    @Test(
        "the server verifies codes with a database that it reaches over verified TLS"
    )
    func served() async throws {
        let folder = try TemporaryFolder()
        let (database, url) = try await onOwnThread {
            let server = try PostgreSQLServer.startWithTLS("server", in: folder)
            return (server, try server.makeDatabase())
        }
        let state = try ServerProcess.State(
            store: guarded(url, authority: folder.file("server.pem")))
        let passwords = try passwordFile(state)
        let server = try await ServerProcess(state, environment: passwords)
        let client = try await state.run(
            "client", "add", "tests", "--scope", "verify,enrol,reasons", environment: passwords)
        let key = client.text.trimmingPrefix { $0.isWhitespace }.prefix { !$0.isWhitespace }
        let asker = try Asker(server.port, key: String(key))
        let alice = try await EnrolledSubject("alice", asker)
        #expect(try await asker.verify("alice", alice.code())?.texts["result"] == "accepted")
        #expect(try await asker.verify("alice", alice.code())?.texts["reason"] == "replayed")
        let connections = try await onOwnThread {
            try database.query(
                "SELECT DISTINCT usename, ssl, version FROM pg_stat_ssl "
                    + "JOIN pg_stat_activity USING (pid) WHERE datname = '\(name(of: url))'")
        }
        #expect(connections == "guarded|t|TLSv1.3")
        #expect(try await server.stop() == 0)
        #expect(try await state.run("audit", "verify", environment: passwords).status == 0)
    }

    @Test("a database with a certificate from a different authority, or without TLS, is refused")
    func refused() async throws {
        let folder = try TemporaryFolder()
        let servers = try await onOwnThread {
            try makeTestIdentity("other", in: folder)
            return [
                try PostgreSQLServer.startWithTLS("server", in: folder),
                try PostgreSQLServer.shared(),
            ]
        }
        let reasons = ["certificate verify failed", "server does not support SSL"]
        for (server, word) in zip(servers, reasons) {
            let url = try await onOwnThread { try server.makeDatabase() }
            let state = try ServerProcess.State(
                store: guarded(url, authority: folder.file("other.pem")))
            let passwords = try passwordFile(state)
            for verb in ["serve", "audit verify"] {
                let outcome = try await onOwnThread {
                    try ForeignProgram(path: BuiltProgram.path("watchword-server")).run(
                        verb.split(separator: " ").map(String.init),
                        environment: state.environment.merging(passwords) { $1 })
                }
                #expect(outcome.status == ExitCode.system.rawValue)
                let words = String(decoding: outcome.errors, as: UTF8.self)
                #expect(words.contains(word))
                #expect(words.contains("postgresql://127.0.0.1"))
                #expect(!words.contains(PostgreSQLServer.password))
            }
        }
    }

    /// Writes the password to a file for libpq; it is in neither the arguments nor the environment.
    private func passwordFile(_ state: ServerProcess.State) throws -> [String: String] {
        let path = try state.folder.write(
            Array("127.0.0.1:*:*:guarded:\(PostgreSQLServer.password)\n".utf8), to: "pgpass")
        try setMode(0o600, of: path)
        return ["PGPASSFILE": path]
    }

    private func name(of url: String) -> String {
        url.split(separator: "/").last.map(String.init) ?? url
    }
}
