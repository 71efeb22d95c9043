import StoreContract
import Testing
import Verification

/// The reference keeps the rules that it is the reference for.
@Suite("MemoryStore")
struct MemoryStoreTests {
    @Test("the contract of stores", arguments: StoreContract.rules)
    func contract(rule: StoreContract.Rule) async throws {
        let key = StoreKeys.known.auditKey
        let store = MemoryStore(node: sampleBytes(1, count: 16), key: key)
        try await rule.check(StoreContract.Subject(store, key: key))
    }
}
