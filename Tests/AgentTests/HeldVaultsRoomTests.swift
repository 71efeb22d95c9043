import Foundation
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

@testable import Agent

/// Limits on the number of copies of a vault that are held.
struct HeldVaultsRoomTests {
    @Test("the vaults of single connections that do not fit into memory together are not held")
    func room() throws {
        let folder = try TemporaryFolder()
        let passphrase = SecretBytes(text: "pass")
        try Vault.create(
            at: folder.file("vault"), passphrase: passphrase, cost: .lowest,
            recoveryKey: nil, now: 0)
        let place = try VaultPlace(at: folder.file("vault"))
        let vaults = HeldVaults { AgentClock(sinceBoot: .seconds(1), awake: .seconds(1)) }
        let (first, second) = (place.only(for: 1), place.only(for: 2))
        #expect(vaults.hasRoom(for: first, size: 200 << 20))
        for place in [first, second] {
            let unlocking = vaults.beginUnlocking(place)
            let vault = try Vault.unlock(at: place.path, with: .passphrase(passphrase))
            #expect(vaults.hold(HeldVault(vault), for: .standard, unlocking))
        }
        let size = try #require(FileStamp(of: place.path)).size
        #expect(vaults.hasRoom(for: second, size: (64 << 20) - size))
        #expect(!vaults.hasRoom(for: second, size: (64 << 20) - size + 1))
        #expect(vaults.hasRoom(for: place, size: 200 << 20))
        // The file grows so much that only one of them fits.
        let file = try #require(FileHandle(forWritingAtPath: place.path))
        try file.truncate(atOffset: 32 << 20)
        #expect(throws: VaultError.self) { try vaults.use(first) }
        try file.truncate(atOffset: (32 << 20) + 1)
        #expect(vaults.isHeld(second))
        #expect(throws: RequestRefusal.self) { try vaults.use(second) }
        #expect(vaults.isHeld(first) && !vaults.isHeld(second))
    }

    @Test("large vaults that do not fit into memory together leave room for small ones")
    func total() throws {
        let folder = try TemporaryFolder()
        let passphrase = SecretBytes(text: "pass")
        let vaults = HeldVaults(largestTotal: 128 << 20) {
            AgentClock(sinceBoot: .seconds(1), awake: .seconds(1))
        }
        var places: [VaultPlace] = []
        for user in ["1", "2"] {
            let path = folder.file("\(user)/vault")
            try FileManager.default.createDirectory(
                atPath: folder.file(user), withIntermediateDirectories: false)
            try Vault.create(
                at: path, passphrase: passphrase, cost: .lowest, recoveryKey: nil,
                now: 0)
            places.append(try VaultPlace(at: path))
        }
        let vault = try Vault.unlock(at: places[0].path, with: .passphrase(passphrase))
        #expect(vaults.hold(HeldVault(vault), for: .standard, vaults.beginUnlocking(places[0])))
        let unlocking = try vaults.use(places[0]).unlocking
        #expect(vaults.reserve(64 << 20, for: places[0], unlocking))
        #expect(vaults.hasRoom(for: places[1], size: 16 << 20))
        #expect(!vaults.hasRoom(for: places[1], size: (16 << 20) + 1))
        #expect(vaults.hasRoom(for: places[1], size: 1 << 20))
        // The vault may be held again.
        #expect(vaults.hasRoom(for: places[0], size: 64 << 20))
    }

    /// A vault with a large file in a new folder.
    private func vault(
        in folder: TemporaryFolder, _ name: String, secretSize: Int
    ) throws -> (place: VaultPlace, size: Int64) {
        let path = folder.file("\(name)/vault")
        try FileManager.default.createDirectory(
            atPath: folder.file(name), withIntermediateDirectories: false)
        try Vault.create(
            at: path, passphrase: Self.passphrase, cost: .lowest, recoveryKey: nil,
            now: 0)
        let vault = try Vault.unlock(at: path, with: .passphrase(Self.passphrase))
        try Self.add(secretSize, to: vault)
        return (try VaultPlace(at: path), try #require(FileStamp(of: path)).size)
    }

    private static let passphrase = SecretBytes(text: "pass")

    private static func add(_ size: Int, to vault: UnlockedVault) throws {
        let secret = SecretBytes(text: String(repeating: "x", count: size))
        try vault.update { changes throws(VaultError) in
            _ = try changes.add(
                .plainSecret(issuer: "", account: "\(size)", value: secret), now: 0)
        }
    }

    private func hold(_ place: VaultPlace, in vaults: HeldVaults) throws -> Bool {
        let vault = try Vault.unlock(at: place.path, with: .passphrase(Self.passphrase))
        return vaults.hold(HeldVault(vault), for: .standard, vaults.beginUnlocking(place))
    }

    @Test("the saved changes of a request are charged, and a vault that no longer fits is locked")
    func saved() throws {
        let folder = try TemporaryFolder()
        let (place, _) = try vault(in: folder, "1", secretSize: 1)
        let other = try vault(in: folder, "2", secretSize: 1).place
        let limit: Int64 = 100_000
        let vaults = HeldVaults(largestTotal: limit) {
            AgentClock(sinceBoot: .seconds(1), awake: .seconds(1))
        }
        #expect(try hold(place, in: vaults))
        let use = try vaults.use(place)
        try Self.add(20_000, to: use.vault)
        vaults.learn(from: use, of: place)
        let size = try #require(FileStamp(of: place.path)).size
        #expect(vaults.hasRoom(for: other, size: limit - size))
        #expect(!vaults.hasRoom(for: other, size: limit - size + 1))
        let last = try vaults.use(place)
        #expect(last.unlocking == use.unlocking)
        try Self.add(60_000, to: last.vault)
        try Self.add(59_999, to: last.vault)
        vaults.learn(from: last, of: place)
        #expect(!vaults.isHeld(place))
    }

    @Test("single-connection vaults of the user with the most memory give way to other users")
    func givingWay() throws {
        let folder = try TemporaryFolder()
        let (most, size) = try vault(in: folder, "1", secretSize: 20_000)
        let (less, _) = try vault(in: folder, "2", secretSize: 1)
        let vaults = HeldVaults(largestTotal: 3 * size) {
            AgentClock(sinceBoot: .seconds(1), awake: .seconds(1))
        }
        let places = (1...4).map { most.only(for: $0) }
        for place in places.prefix(3) { #expect(try hold(place, in: vaults)) }
        #expect(try !hold(places[3], in: vaults))
        #expect(vaults.hasRoom(for: less, size: 1))
        #expect(places.filter(vaults.isHeld).count == 3)
        #expect(try hold(less, in: vaults))
        #expect(places.filter(vaults.isHeld).count == 2)
        // The new vault does not give way in turn.
        #expect(try !hold(places[3], in: vaults))
        #expect(try !hold(most, in: vaults))
        #expect(vaults.isHeld(less))
        // A vault that is unlocked for all connections does not give way, either.
        vaults.lockAll()
        #expect(try hold(most, in: vaults))
        #expect(try !hold(less, in: HeldVaults(largestTotal: 1, clock: AgentClock.now)))
        #expect(!vaults.hasRoom(for: less, size: 2 * size + 1))
        #expect(vaults.isHeld(most))
    }
}
