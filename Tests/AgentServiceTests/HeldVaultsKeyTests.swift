import Cryptography
import POSIX
import SecretVault
import Synchronization
import TestSupport
import Testing
import VaultAgent

@testable import AgentService

/// The key of a vault that is locked while requests use it.
struct HeldVaultsKeyTests {
    private let passphrase = SecretBytes(text: "pass")

    @Test("whatever locks a vault wipes its key for the requests that have begun")
    func wiped() throws {
        let folder = try TemporaryFolder()
        let clock = SharedClock()
        let vaults = HeldVaults { clock.now }
        try Vault.create(
            at: folder.file("vault"), passphrase: passphrase, cost: ScryptCost(logN: 10),
            recoveryKey: nil, now: 0)
        let place = try VaultPlace(at: folder.file("vault"))
        func hold() throws {
            let unlocking = vaults.beginUnlocking(place)
            let vault = try Vault.unlock(at: place.path, with: .passphrase(passphrase))
            #expect(vaults.hold(HeldVault(vault), for: .standard, unlocking))
        }
        let content = EntryContent.plainSecret(issuer: "a", account: "b", value: passphrase)
        func add(to vault: UnlockedVault) throws(VaultError) {
            _ = try vault.rehearse { changes throws(VaultError) in
                try changes.add(content, now: 0)
            }
        }
        let locks: [() throws -> Void] = [
            { vaults.lock(place) }, { vaults.lockAll() }, { vaults.lockAll(in: place.folder) },
            { clock.pass(.seconds(900)) }, { clock.pass(.seconds(1), suspended: .seconds(2)) },
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
        // What has begun before the agent ends may end.
        try hold()
        let begun = try vaults.use(place).vault
        vaults.close()
        try add(to: begun)
    }

    /// Two clocks that only the test moves.
    private final class SharedClock: Sendable {
        private let time = Mutex(
            AgentClock(sinceBoot: .seconds(1_000), awake: .seconds(1_000)))

        var now: AgentClock { time.withLock { $0 } }

        func pass(_ awake: Duration, suspended: Duration = .zero) {
            time.withLock { time in
                time = AgentClock(
                    sinceBoot: time.sinceBoot + awake + suspended, awake: time.awake + awake)
            }
        }
    }
}
