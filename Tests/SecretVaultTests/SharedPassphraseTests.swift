import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// Files on which trying a passphrase is a guess at that of a vault in use.
struct SharedPassphraseTests {
    private func path(
        of bytes: [UInt8], at path: String? = nil, among vault: TestVault
    ) throws(VaultError) -> String? {
        try Vault.path(sharingPassphraseWith: bytes, at: path, among: [vault.path])
    }

    @Test("a copy of a vault, and an earlier or later state of it, share its passphrase")
    func copies() throws {
        let vault = try TestVault()
        let first = try vault.bytes()
        _ = try vault.fill()
        #expect(try path(of: first, among: vault) == vault.path)
        #expect(try path(of: vault.bytes(), among: vault) == vault.path)
        // These changes affect the digest of the slots, but not the passphrase.
        let key = RecoveryKey.make()
        try vault.unlock().change { try $0.addRecoveryKey(key, now: 0) }
        try vault.unlock().change { try $0.rekey() }
        #expect(try path(of: first, among: vault) == vault.path)
    }

    @Test("a file that only has the vault's ID, and another vault, share nothing")
    func others() throws {
        let vault = try TestVault()
        #expect(try path(of: TestVault().bytes(), among: vault) == nil)
        let document = try VaultDocument(parsing: vault.bytes())
        let key = VaultKey.make(of: document.vaultID)
        let slot = try TrustedSlot.sealing(
            key, under: .passphrase(secret("guess"), .lowest), number: 1, created: 0)
        // The second file has the salt of the vault's slot, but not its sealed secret.
        let salted = Slot(
            head: document.slots[0].head, secret: slot.slot.secret, vaultKey: slot.slot.vaultKey)
        for slot in [slot, TrustedSlot(slot: salted, authenticationKey: slot.authenticationKey)] {
            let forged = try VaultState(new: document.vaultID, slots: [slot]).written(with: key)
            #expect(try path(of: forged, among: vault) == nil)
            #expect(try Vault.isSame(forged, at: vault.path))
        }
    }

    @Test("a vault is found beside the file, through a link, and beside its previous generation")
    func places() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        let other = try TestVault()
        let bytes = try vault.bytes()
        #expect(try path(of: bytes, among: other) == nil)
        let link = other.folder.file("link")
        try linkSymbolically(vault.path, to: link)
        let copy = vault.folder.file("copy")
        try vault.put(bytes, as: "copy")
        for place in [vault.path, copy, link, vault.folder.file(TestVault.own("previous"))] {
            let found = try #require(try path(of: bytes, at: place, among: other))
            #expect(try Vault.identity(at: found) == Vault.identity(of: bytes), "\(place)")
            #expect(Folder.resolvedPath(found) == Folder.resolvedPath(vault.path), "\(place)")
        }
        // An unrelated vault beside a vault that is in use.
        let second = vault.folder.file("second")
        try Vault.create(
            at: second, passphrase: secret("other"), cost: .lowest, recoveryKey: nil,
            now: 0)
        let secondBytes = try vault.folder.bytes(of: "second")
        let found = try #require(try path(of: secondBytes, among: vault))
        #expect(Folder.resolvedPath(found) == Folder.resolvedPath(second))
        // A copy in a folder in which no vault was used.
        let elsewhere = try TemporaryFolder()
        try TestVault.put(bytes, as: "copy", in: elsewhere)
        #expect(try path(of: bytes, at: elsewhere.file("copy"), among: other) == nil)
    }

    @Test("a wrong passphrase for a copy with an earlier key counts against the vault")
    func merged() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        let folder = try TemporaryFolder()
        try TestVault.put(vault.bytes(), as: "copy", in: folder)
        let open = try vault.unlock()
        try open.change { try $0.rekey() }
        func copy(_ passphrase: SecretBytes) throws(VaultError) -> VaultCopy {
            try open.copy(
                at: folder.file("copy"), passphrase: passphrase, among: [vault.path])
        }
        for count in 1...LockOutPolicy.firstFailureWithWait {
            #expect(throws: VaultError.wrongPassphrase) { try copy(secret("guess")) }
            #expect(try vault.attempts().vault?.refused == count)
        }
        let refused = #expect(throws: VaultError.self) { try copy(TestVault.passphrase) }
        guard case .lockedOut? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        try vault.put([], as: vault.counted("attempts"))
        #expect(try copy(TestVault.passphrase).state.records.count == 4)
        #expect(try TestVault.files(in: folder) == ["copy"])
    }
}
