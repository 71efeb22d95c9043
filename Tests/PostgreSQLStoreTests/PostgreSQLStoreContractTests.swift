import PostgreSQLServer
import PostgreSQLStore
import StoreContract
import Testing
import Verification

/// Runs the contract against one store, against two stores on one database, and against stores with
/// several writers.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"), .serialized)
struct PostgreSQLStoreContractTests {
    @Test("a store satisfies the store contract", arguments: StoreContract.rules)
    func alone(rule: StoreContract.Rule) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await rule.check(StoreContract.Subject(store, key: database.keys.auditKey))
    }

    @Test("two stores on one database satisfy the store contract", arguments: StoreContract.rules)
    func together(rule: StoreContract.Rule) async throws {
        let database = try TestDatabase()
        let first = try database.open()
        let second = try database.open()
        try await rule.check(
            StoreContract.Subject(first, second: second, key: database.keys.auditKey))
    }

    @Test(
        "stores with several writers each obey the store contract", arguments: StoreContract.rules)
    func several(rule: StoreContract.Rule) async throws {
        let database = try TestDatabase()
        let first = try database.open(reading: 3, writing: 3)
        let second = try database.open(reading: 3, writing: 3)
        try await rule.check(
            StoreContract.Subject(first, second: second, key: database.keys.auditKey))
    }
}
