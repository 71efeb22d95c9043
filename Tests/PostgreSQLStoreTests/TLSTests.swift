import PostgreSQLServer
import SQLStore
import StoreContract
import TestSupport
import Testing
import Verification

@testable import PostgreSQLStore

/// The servers that a store accepts with each connection string.
@Suite(.enabled(if: PostgreSQLServer.canSpeakTLS, "postgresql or openssl is missing"))
struct TLSTests {
    @Test("a TLS server is accepted with the right certificate and refused with a different one")
    func verified() async throws {
        let folder = try TemporaryFolder()
        let server = try await onOwnThread {
            try makeTestIdentity("other", in: folder)
            return try PostgreSQLServer.startWithTLS("server", in: folder)
        }
        let certificate = folder.file("server.pem")
        let database = try TestDatabase(on: server)
        let url = database.url + "?sslmode=verify-full&sslrootcert="
        let store = try PostgreSQLVerificationStore(
            connecting: try #require(PostgreSQLAddress(url + certificate)),
            key: database.keys.auditKey, connections: .init(timeout: .seconds(20)))
        #expect(try await store.commit([.appendEvent(.sample(1))]) == .done)
        #expect(
            try database.query(
                "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                    + "WHERE usename = 'watchword'") == "t")
        do {
            _ = try PostgreSQLVerificationStore(
                connecting: try #require(PostgreSQLAddress(url + folder.file("other.pem"))),
                key: database.keys.auditKey)
            Issue.record("an untrusted certificate was accepted")
        } catch let error as SQLStoreError {
            guard case .unreachable(let message) = error else { throw error }
            #expect(message.contains("certificate"))
        }
    }
}
