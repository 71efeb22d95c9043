@testable import Devices
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography

@testable import Agent
@testable import WatchwordSystem

/// A check by PAM modules whose questions pass through a client.
struct RelayedCheckTests {
    @Test("no answer is accepted so late that the PAM modules have no time for a refusal")
    func lateAnswer() throws {
        let folder = try TemporaryFolder()
        let (vaults, place, unlocking) = try HeldVaults.holdingOne(in: folder)
        let supervisor = try SocketPair()
        let modules = try SocketPair()
        let client = try SocketPair()
        try modules.first.setBlocking(false)
        try client.first.setBlocking(false)
        try supervisor.second.send(
            HelperChannel.presence, with: modules.first.duplicate(), modules.first.duplicate())
        let frames: [ModuleFrame] = [
            .ready(version: ModuleFrame.version), .asks("Password: ", isEchoed: false),
        ]
        for frame in frames { try FrameWriter(frame).write(to: modules.second) }
        let context = RelayContext(
            helpers: HelperChannel(try supervisor.first.duplicate()), vaults: vaults,
            place: place, unlocking: unlocking, turn: nil)
        let check = RelayedCheck<Advisory>(
            context, RemotePerson(FrameConnection(try client.first.duplicate())), user: nil,
            for: EntryName(issuer: "Site", account: "me"), timeout: .seconds(8))
        let start = Moment.now
        #expect(throws: PAMCheckFailure(.timedOut)) {
            try check.isPresent(for: "code")
        }
        #expect(Moment.now < start + .seconds(6))
        withExtendedLifetime(modules) {}
        withExtendedLifetime(client) {}
    }
}

extension HeldVaults {
    /// Holds a new vault in `folder`; also returns the number of its unlocking.
    static func holdingOne(in folder: TemporaryFolder) throws -> (HeldVaults, VaultPlace, UInt64) {
        let passphrase = SecretBytes(text: "pass")
        try Vault.create(
            at: folder.file("vault"), passphrase: passphrase, cost: .lowest,
            recoveryKey: nil, now: 0)
        let place = try VaultPlace(at: folder.file("vault"))
        let vaults = HeldVaults(clock: AgentClock.now)
        let unlocking = vaults.beginUnlocking(place)
        let vault = try Vault.unlock(at: place.path, with: .passphrase(passphrase))
        #expect(vaults.hold(HeldVault(vault), for: .standard, unlocking))
        return (vaults, place, unlocking)
    }
}
