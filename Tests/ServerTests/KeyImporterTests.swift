import Exports
import OneTimePassword
import StoreContract
import TestSupport
import Testing
import Verification
import WatchwordCryptography

@testable import ServerCommands

struct KeyImporterTests {
    @Test(
        "rows are imported concurrently, but those that share a subject or key stay in order")
    func together() async throws {
        let keys = try KeyRing.make()
        let store = BarrierStore(
            MemoryStore(node: [UInt8](repeating: 1, count: 16), key: keys.auditKey))
        let verifier = Verifier(
            store: store, keys: keys, policy: try Policy(maximumCredentials: 1),
            clock: { ServerContext.now() })
        let importer = KeyImporter(verifier: verifier, origin: .unknown, isRehearsal: false)
        // The second row of each pair is refused: its user has a credential, or its key is in use.
        let rows = try (0..<400).map { number in
            let (pair, row) = ("the number of pair \(number / 2)", "the number of row \(number)")
            let (user, key) = number % 4 < 2 ? (pair, row) : (row, pair)
            let given = try Credential(issuer: "", account: user, key: SecretBytes(text: key))
            return ImportRow(
                number, ExportedEntry(content: .oneTimePassword(given)), of: nil, in: nil,
                allowsShortKeys: false)
        }
        // The task that looks up the first key waits until a task looks up a different key.
        await store.gather(2, reading: .fingerprint)
        let importing = Task { try await importer.run(rows) { _, _ in }.map(\.word) }
        let deadline = ContinuousClock.now + .seconds(30)
        while await store.awaited > 0, ContinuousClock.now < deadline { await Task.yield() }
        #expect(await store.awaited == 0)
        if await store.awaited > 0 { _ = try await store.credential(fingerprint: []) }
        let words = rows.map { $0.number.isMultiple(of: 2) ? "imported" : "refused" }
        #expect(try await importing.value == words)
    }
}
