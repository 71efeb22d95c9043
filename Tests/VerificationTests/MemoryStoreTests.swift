import StoreContract
import Testing
import Verification

/// Runs the contract of the stores against the reference implementation.
@Suite("MemoryStore")
struct MemoryStoreTests {
    @Test("the memory store satisfies the store contract", arguments: StoreContract.rules)
    func contract(rule: StoreContract.Rule) async throws {
        let key = StoreKeys.known.auditKey
        let store = MemoryStore(node: sampleBytes(1, count: 16), key: key)
        try await rule.check(StoreContract.Subject(store, key: key))
    }

    @Test("pruning removes in batches everything that has expired, and nothing else")
    func pruneAll() async throws {
        let store = MemoryStore(
            node: sampleBytes(1, count: 16), key: StoreKeys.known.auditKey)
        for number in 0..<600 {
            let time: Int64 = number < 501 ? 10 : 20
            _ = await store.commit([
                .insertAnswer(.sample(number, expiresAt: time)),
                .appendEvent(.sample(number, at: time)),
            ])
        }
        let gone = try await store.pruneAll(Pruning(now: .at(10), eventsBefore: .at(15)))
        #expect(
            gone
                == PruningOutcome(answers: 501, events: 501))
        #expect(await store.events(after: 0, limit: 1_000).count == 99)
        #expect(try await store.pruneAll(Pruning(now: .at(10))).events == 0)
    }
}
