import Foundation
import PostgreSQLServer
import StoreContract
import TestSupport
import Testing
import Verification

@testable import PostgreSQLStore

/// Whom a store talks to, as the connection string says.
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, "postgresql-15 is missing"),
    .enabled(if: ForeignProgram("openssl") != nil, "openssl is not installed"))
struct TLSTests {
    @Test("over TLS a server with the right certificate is talked to, and another one is not")
    func verified() async throws {
        let folder = try TemporaryFolder()
        for name in ["server", "other"] { try await makeCertificate(name, folder) }
        let (certificate, key) = (folder.file("server.pem"), folder.file("server.key"))
        // The folder above is the test's own; the server reads these as another user.
        try setMode(0o755, of: folder.path)
        if geteuid() == 0 {
            for path in [certificate, key] {
                try FileManager.default.setAttributes(
                    [.ownerAccountName: "postgres"], ofItemAtPath: path)
            }
        }
        let server = try await offThePool {
            try PostgreSQLServer.start(settings: [
                "ssl": "on", "ssl_cert_file": certificate, "ssl_key_file": key,
            ])
        }
        let database = try TestDatabase(on: server)
        let url = database.url + "?sslmode=verify-full&sslrootcert="
        let store = try PostgreSQLStore(
            connecting: try #require(PostgreSQLAddress(url + certificate)),
            key: database.keys.auditKey, patience: 20_000)
        #expect(try await store.commit([.appendEvent(.sample(1))]) == .done)
        #expect(
            try database.query(
                "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                    + "WHERE usename = 'watchword'") == "t")
        do {
            _ = try PostgreSQLStore(
                connecting: try #require(PostgreSQLAddress(url + folder.file("other.pem"))),
                key: database.keys.auditKey)
            Issue.record("a certificate that nobody vouches for was taken")
        } catch let error as PostgreSQLStoreError {
            guard case .unreachable(let message) = error else { throw error }
            #expect(message.contains("certificate"))
        }
    }

    private func makeCertificate(_ name: String, _ folder: TemporaryFolder) async throws {
        let openssl = try #require(ForeignProgram("openssl"))
        let outcome = try await offThePool {
            try openssl.run([
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=IP:127.0.0.1", "-keyout", folder.file("\(name).key"), "-out",
                folder.file("\(name).pem"),
            ])
        }
        #expect(outcome.status == 0)
        try setMode(0o600, of: folder.file("\(name).key"))
    }
}
