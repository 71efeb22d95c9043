import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// A vault that is used by several threads, or moved.
struct HeldVaultTests {
    private let right = VaultOpener.passphrase(TestVault.passphrase)

    @Test("a check must yield the key of the open vault, not only open the same vault")
    func confirmed() throws {
        let vault = try TestVault()
        let open = HeldVault(try vault.unlock()).vault()
        #expect(throws: Never.self) { try open.confirm(right) }
        #expect(throws: VaultError.wrongPassphrase) {
            try open.confirm(.passphrase(secret("wrong")))
        }
        // The same passphrase opens the file, which has been rekeyed meanwhile.
        try vault.unlock().change { try $0.rekey() }
        #expect(throws: VaultError.rekeyed) { try open.confirm(right) }
        try vault.put(TestVault().bytes())
        #expect(throws: VaultError.replaced) { try open.confirm(right) }
    }

    @Test("a file that is larger than a request may read is neither read again nor changed")
    func largestFile() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        func rekey() throws(VaultError) {
            try open.change { try $0.rekey() }
        }
        let bytes = try vault.bytes()
        open.largestFile = bytes.count - 1
        #expect(throws: VaultError.busy) { try rekey() }
        #expect(throws: VaultError.busy) { _ = try open.refresh() }
        #expect(try vault.bytes() == bytes)
        open.largestFile = bytes.count
        try rekey()
    }

    @Test(
        "a vault is not packed while a check runs, because the copy could lack the check's refusal")
    func packing() throws {
        let vault = try TestVault()
        let vaultID = try VaultDocument(parsing: vault.bytes()).vaultID
        let asked = try AskedPresence(VaultLocation(vault.path), of: vaultID)
        #expect(throws: VaultError.busy) { try Vault.pack(vault.path) }
        _ = consume asked
        #expect(try Vault.pack(vault.path).identity == Vault.identity(at: vault.path))
    }
}
