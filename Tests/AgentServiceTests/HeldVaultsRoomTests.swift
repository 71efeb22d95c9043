import Cryptography
import Foundation
import POSIX
import SecretVault
import TestSupport
import Testing
import VaultAgent

@testable import AgentService

/// How many copies of a vault are held.
struct HeldVaultsRoomTests {
    @Test("the vaults of single connections that do not fit into memory together are not held")
    func room() throws {
        let folder = try TemporaryFolder()
        let passphrase = SecretBytes(text: "pass")
        try Vault.create(
            at: folder.file("vault"), passphrase: passphrase, cost: ScryptCost(logN: 10),
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
        #expect(throws: HeldVaults.Refusal.self) { try vaults.use(first) }
        try file.truncate(atOffset: (32 << 20) + 1)
        #expect(vaults.isHeld(second))
        #expect(throws: HeldVaults.Refusal.self) { try vaults.use(second) }
        #expect(vaults.isHeld(first) && !vaults.isHeld(second))
    }

    @Test("large vaults of all users that do not fit into memory together leave room to small ones")
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
                at: path, passphrase: passphrase, cost: ScryptCost(logN: 10), recoveryKey: nil,
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
        // It may be held again.
        #expect(vaults.hasRoom(for: places[0], size: 64 << 20))
    }
}
