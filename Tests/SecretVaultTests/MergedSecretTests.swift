import TestSupport
import Testing

@testable import SecretVault

// Merges that must not lose a secret.
extension MergeTests {
    @Test("a key that one side changed is never dropped for a later edit on the other side")
    func changedKey() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        let new = EntryContent.plainSecret(
            issuer: "Wi-Fi", account: "home", value: secret("the new password"))
        try copies.here { changes throws(VaultError) in
            try changes.replace(id, with: new, now: 100)
        }
        try copies.there { changes throws(VaultError) in
            try changes.setDetails(of: id, to: EntryDetails(tags: ["later"]), now: 5000)
        }
        let (old, changed) = (try copies.unlockedCopy().open(id), Facts(new))
        let plan = try copies.merge()
        #expect(plan.changes.count == 1)
        guard case .keptBoth? = plan.changes.first?.action else {
            Issue.record("\(plan.changes)")
            return
        }
        let open = try copies.vault.unlock()
        let secrets = try open.entries.map { try Facts(open.open($0.id)) }
        #expect(secrets.contains { $0.secret == Facts(old).secret })
        #expect(secrets.contains { $0.secret == changed.secret })
    }

    @Test("a wipe without the key is merged only if the owner accepts it")
    func wiped() throws {
        let copies = try Copies()
        let id = copies.ids[0]
        let document = try VaultDocument(parsing: copies.vault.folder.bytes(of: "copy"))
        let tombstone = Tombstone(time: 50, reason: .failures)
        let wiped = try #require(try document.wiping([id], leaving: tombstone))
        try copies.vault.put(wiped.bytes, as: "copy")
        try copies.here(rename(id, "renamed", 100))
        let bytes = try copies.vault.bytes()
        let declined = try copies.merge()
        #expect(declined.isMerged && declined.declinedWipes == [id])
        #expect(try copies.vault.bytes() == bytes)
        #expect(try copies.vault.files().contains(TestVault.own("previous")))
        let plan = try copies.merge(accepting: [id])
        #expect(plan.isIncluded && plan.changes.map(\.action) == [.wiped])
        let entry = try #require(try copies.vault.unlock().entries.first)
        #expect(entry.tombstone == tombstone && entry.issuer == "renamed")
        // The previous generation contained the secret.
        #expect(try !copies.vault.files().contains(TestVault.own("previous")))
    }

    @Test("a copy can be opened without saving it, even if entries were wiped without the key")
    func unchangedCopy() throws {
        let copies = try Copies()
        let document = try VaultDocument(parsing: copies.vault.folder.bytes(of: "copy"))
        let tombstone = Tombstone(time: 50, reason: .failures)
        let wiped = try #require(try document.wiping([copies.ids[0]], leaving: tombstone))
        try copies.vault.put(wiped.bytes, as: "copy")
        _ = try Vault.unlock(
            at: copies.path, with: .passphrase(TestVault.passphrase), savesWipes: false)
        #expect(try copies.vault.folder.bytes(of: "copy") == wiped.bytes)
        _ = try copies.unlockedCopy()
        // Nothing proves the wipe.
        #expect(try copies.vault.folder.bytes(of: "copy") == wiped.bytes)
    }
}
