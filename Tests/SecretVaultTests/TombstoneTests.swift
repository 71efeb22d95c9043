import TestSupport
import Testing

@testable import SecretVault

struct TombstoneTests {
    /// Replaces a record with a tombstone without the vault key.
    static func wipe(_ id: RecordID, in vault: TestVault) throws {
        let document = try VaultDocument(parsing: vault.bytes())
        var text = VaultText()
        let tombstone = RecordBody.tombstone(Tombstone(time: 1_795_000_100, reason: .failures))
        tombstone.write(of: id, to: &text)
        let index = try #require(document.records.firstIndex { $0.id == id })
        var old = VaultText()
        document.bodies[index].write(of: id, to: &old)
        let lines = String(decoding: document.bytes, as: UTF8.self)
            .replacing(
                String(decoding: old.bytes, as: UTF8.self),
                with: String(decoding: text.bytes, as: UTF8.self)
            )
            .replacing("\nchanges 0\n", with: "\nchanges 1\n")
        let body = Array(lines.utf8).dropLast(VaultEnvelope.lastLineCount)
        try vault.countFailures(of: [id])
        try vault.put(body + VaultEnvelope.lastLine(for: body))
    }

    @Test("a wiped entry keeps its name, is reported at each unlock, and can be removed")
    func wiped() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        try Self.wipe(ids[3], in: vault)
        let tombstone = Tombstone(time: 1_795_000_100, reason: .failures)
        for _ in 0..<2 {
            let open = try vault.unlock()
            #expect(open.reports == [.wiped(ids[3], tombstone)])
            #expect(open.entries.map(\.tombstone) == [nil, nil, nil, tombstone])
            #expect(open.entries[3].issuer == "shop")
            #expect(throws: VaultError.wiped) { try open.open(ids[3]) }
            let check = try open.check()
            #expect(check.opened == 3 && check.damages.isEmpty)
            try open.change { try $0.rename(ids[0], issuer: "kept", account: "through a saving") }
        }
        let open = try vault.unlock()
        try open.change { try $0.remove(ids[3], purge: false) }
        #expect(try vault.unlock().reports.isEmpty)
    }

    @Test("a wiped entry has no secret; a new secret needs a new entry")
    func wipedHoldsNothing() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let content = try vault.unlock().open(ids[1])
        try vault.unlock().change { try $0.wipe(ids[1], because: .failures, now: TestVault.now) }
        let new = try vault.unlock().update { changes throws(VaultError) -> RecordID in
            #expect(try changes.entries(withSecretOf: content) == [])
            #expect(try changes.entries(equivalentTo: content) == [])
            let given = try changes.content(content, notBehind: ids[1])
            #expect(throws: VaultError.wiped) { try changes.replace(ids[1], with: given) }
            let new = try changes.add(given, now: 1_795_000_200)
            #expect(try changes.entries(equivalentTo: content) == [new])
            return new
        }
        #expect(Facts(try vault.unlock().open(new)) == Facts(content))
        #expect(throws: VaultError.wiped) { try vault.unlock().open(ids[1]) }
    }
}
