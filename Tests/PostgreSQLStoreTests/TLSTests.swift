import PostgreSQLServer
import StoreContract
import TestSupport
import Testing
import Verification

@testable import PostgreSQLStore

/// Whom a store talks to, as the connection string says.
@Suite(.enabled(if: PostgreSQLServer.canSpeakTLS, "postgresql-15 or openssl is missing"))
struct TLSTests {
    @Test("over TLS a server with the right certificate is talked to, and another one is not")
    func verified() async throws {
        let folder = try TemporaryFolder()
        let server = try await offThePool {
            try PostgreSQLServer.makeCertificate("other", in: folder)
            return try PostgreSQLServer.startWithTLS("server", in: folder)
        }
        let certificate = folder.file("server.pem")
        let database = try TestDatabase(on: server)
        let url = database.url + "?sslmode=verify-full&sslrootcert="
        let store = try PostgreSQLStore(
            connecting: try #require(PostgreSQLAddress(url + certificate)),
            key: database.keys.auditKey, timeout: .seconds(20))
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
}
