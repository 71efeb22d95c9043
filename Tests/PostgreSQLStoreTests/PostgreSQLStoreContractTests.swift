import PostgreSQLServer
import PostgreSQLStore
import StoreContract
import Testing
import Verification

/// The rules that every store keeps: alone, with two stores on one database, and with several
/// connections that commit in each of them.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql-15 is missing"), .serialized)
struct PostgreSQLStoreContractTests {
    @Test("the contract of stores", arguments: StoreContract.rules)
    func alone(rule: StoreContract.Rule) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await rule.check(StoreContract.Subject(store, key: database.keys.auditKey))
    }

    @Test("the contract of stores, with two on one database", arguments: StoreContract.rules)
    func together(rule: StoreContract.Rule) async throws {
        let database = try TestDatabase()
        let first = try database.open()
        let second = try database.open()
        try await rule.check(
            StoreContract.Subject(first, second: second, key: database.keys.auditKey))
    }

    @Test(
        "the contract of stores, with several that commit in each", arguments: StoreContract.rules)
    func several(rule: StoreContract.Rule) async throws {
        let database = try TestDatabase()
        let connections = PostgreSQLStore.Connections(reading: 3, writing: 3)
        let first = try database.open(connections: connections)
        let second = try database.open(connections: connections)
        try await rule.check(
            StoreContract.Subject(first, second: second, key: database.keys.auditKey))
    }
}
