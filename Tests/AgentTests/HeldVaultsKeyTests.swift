import SecretVault
import Testing
import VaultService

@testable import Agent

// The key of a vault that is locked while requests use it.
extension HeldVaultsTests {
    @Test("every event that locks a vault also wipes its key for requests that have begun")
    func wiped() throws {
        let content = EntryContent.plainSecret(issuer: "a", account: "b", value: passphrase)
        func add(to vault: UnlockedVault) throws(VaultError) {
            _ = try vault.rehearse { changes throws(VaultError) in
                try changes.add(content, now: 0)
            }
        }
        let locks: [() throws -> Void] = [
            { vaults.lock(place) }, { vaults.lockAll() }, { vaults.lockAll(in: place.folder) },
            { clocks.pass(.seconds(900)) }, { clocks.pass(.seconds(1), suspended: .seconds(2)) },
            // The vault is opened again.
            { try hold() },
        ]
        for lock in locks {
            try hold()
            let begun = try vaults.use(place).vault
            try add(to: begun)
            try lock()
            _ = vaults.dropExpired()
            #expect(throws: VaultError.busy) { try add(to: begun) }
            #expect(throws: VaultError.busy) { _ = try begun.refresh() }
            #expect(throws: VaultError.busy) { try begun.confirm(.passphrase(passphrase)) }
        }
        // Requests that have begun before the agent ends may finish.
        try hold()
        let begun = try vaults.use(place).vault
        vaults.close()
        try add(to: begun)
    }
}
