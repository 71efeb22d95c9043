import SQLiteStore
import StoreContract
import TestSupport
import Testing
import Verification

/// The rules that every store keeps, once alone and once with two stores on one file.
struct SQLiteStoreContractTests {
    @Test("the contract of stores", arguments: StoreContract.rules)
    func alone(rule: StoreContract.Rule) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await rule.check(StoreContract.Subject(store, key: database.keys.auditKey))
        try await expectSound(store)
    }

    @Test("the contract of stores, with two on one file", arguments: StoreContract.rules)
    func together(rule: StoreContract.Rule) async throws {
        let database = try TestDatabase()
        let first = try database.open()
        let second = try database.open()
        try await rule.check(
            StoreContract.Subject(first, second: second, key: database.keys.auditKey))
        try await expectSound(first)
    }

    private func expectSound(_ store: SQLiteStore) async throws {
        #expect(try store.audit().findings == [])
        #expect(try store.audit().isSound)
    }
}
