import SQLiteStore
import StoreContract
import TestSupport
import Testing
import Verification

/// Runs the contract against one store, and against two stores on one file.
struct SQLiteStoreContractTests {
    @Test("a store satisfies the store contract", arguments: StoreContract.rules)
    func alone(rule: StoreContract.Rule) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await rule.check(StoreContract.Subject(store, key: database.keys.auditKey))
        try await expectSound(store)
    }

    @Test("two stores on one file satisfy the store contract", arguments: StoreContract.rules)
    func together(rule: StoreContract.Rule) async throws {
        let database = try TestDatabase()
        let first = try database.open()
        let second = try database.open()
        try await rule.check(
            StoreContract.Subject(first, second: second, key: database.keys.auditKey))
        try await expectSound(first)
    }

    private func expectSound(_ store: SQLiteVerificationStore) async throws {
        #expect(try store.audit().findings == [])
        #expect(try store.audit().isSound)
    }
}
