import OneTimePassword
import TestSupport
import Testing

@testable import SecretVault

/// Two copies of one vault that were edited separately: each is valid, but their parts cannot be
/// mixed.
struct DivergedCopyTests {
    /// The vault file after separate edits of every entry, in its own folder.
    private func edited(_ original: [UInt8], _ ids: [RecordID]) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let path = try folder.write(original, to: "vault")
        try setMode(0o600, of: path)
        let vault = try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
        let contents = try TestVault.contents()
        try vault.update { changes throws(VaultError) in
            for (id, content) in zip(ids, contents) { try changes.replace(id, with: content) }
        }
        return try folder.bytes(of: "vault")
    }

    private func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("a box from a separately edited copy counts as damage, whichever entry it belongs to")
    func splicedBox() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let original = try vault.bytes()
        let key = try VaultDocument(parsing: original)
            .opened(with: .passphrase(TestVault.passphrase), ceiling: 24).key
        let (one, other) = (try edited(original, ids), try edited(original, ids))
        let (own, foreign) = (lines(one), lines(other))
        // Generation, revisions and access control are the same; only the boxes differ.
        let header = try #require(own.firstIndex { $0.hasPrefix("mac ") })
        #expect(own[...header] == foreign[...header])
        let boxes = own.indices.filter { own[$0].hasPrefix("sealed ") }
        #expect(boxes.count == ids.count)
        for (place, id) in zip(boxes, ids) {
            var spliced = own
            #expect(spliced[place] != foreign[place])
            spliced[place] = foreign[place]
            let text = Array((spliced.joined(separator: "\n") + "\n").utf8)
            let body = text.dropLast(VaultEnvelope.lastLineCount)
            let forged = body + VaultEnvelope.lastLine(for: body)
            let document = try VaultDocument(parsing: Array(forged))
            // No record is opened here, so only this verification can detect the foreign box.
            #expect(throws: VaultError.damaged(.record(id))) {
                try VaultState(verifying: document, with: key)
            }
            try vault.put(Array(forged))
            #expect(throws: VaultError.damaged(.record(id))) { try vault.unlock() }
        }
        #expect(throws: Never.self) {
            try VaultState(verifying: VaultDocument(parsing: one), with: key)
        }
    }
}
