import Devices
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

@testable import VaultService

/// The device keys of a vault that moves.
struct MovedKeyTests {
    /// A vault with one entry that is bound to this device and one that is bound to another device,
    /// and a second folder to which the vault is moved.
    private struct Move {
        let bound: BoundVault
        let (from, to, elsewhere): (DeviceKeyStore, DeviceKeyStore, DeviceKeyStore)
        let target: String

        init(_ binding: DeviceBinding) throws {
            bound = try BoundVault()
            from = bound.store("from", [.tpm, .file])
            to = bound.store("to", [.tpm, .agent])
            elsewhere = bound.store("elsewhere", [.file])
            target = bound.folder.file("target/vault")
            for (account, store, binding) in [("a", from, binding), ("b", elsewhere, .file)] {
                let vault = try bound.unlocked(with: store)
                let choice = BindingChoice(binding, deviceName: "Mill", tpm: .standard)
                let key = try store.key(for: choice, in: vault, through: bound.tokens(at:))
                try vault.update { changes throws(VaultError) in
                    let value = SecretBytes(text: "secret")
                    _ = try changes.add(
                        .plainSecret(issuer: "", account: account, value: value), boundTo: key,
                        now: 2)
                }
            }
        }

        func parcel() throws(VaultError) -> VaultParcel {
            let vault = try bound.unlocked(with: from)
            let keys = try from.keysToMove(of: vault, through: bound.tokens(at:))
            return try from.pack(vault, with: keys, at: bound.path)
        }

        /// Replaces the device keys of the vault after its arrival.
        func replace(_ carried: [String]) throws(VaultError) -> DeviceBinding? {
            let vault = try bound.unlocked(at: target, with: to)
            let ids = to.homes(of: vault).filter { carried.contains($0.text) }
            return try to.replaceKeys(of: vault, carried: ids, through: bound.tokens(at:))
        }

        /// Expects that the secret opens with the keys at the new place, and that the other entry
        /// has not changed: it still opens with the keys of its own device.
        func expectOpen() throws {
            for (account, store) in [("a", to), ("b", elsewhere)] {
                let vault = try bound.unlocked(at: target, with: store)
                store.loadKeys(of: vault, through: bound.tokens(at:))
                let here = vault.entries.filter { $0.binding?.isHere == true }
                #expect(here.map(\.account) == [account])
                let id = try #require(here.first).id
                guard
                    case .plainSecret(_, _, let value) = try vault.open(
                        id, proof: vault.proofOfUnlocking(for: id))
                else { throw VaultError.otherKind }
                #expect(value == SecretBytes(text: "secret"))
            }
            #expect(try lastBox(in: "target/vault") == lastBox(in: "vault"))
        }

        private func lastBox(in file: String) throws -> Substring {
            let text = String(decoding: try bound.folder.bytes(of: file), as: UTF8.self)
            return try #require(text.split(separator: "\n").last { $0.hasPrefix("sealed ") })
        }
    }

    @Test(
        "bound entries open after each step of a move, and finally have a new key of the new place",
        arguments: [DeviceBinding.tpm, .file], [DeviceBinding.tpm, .agent])
    func steps(from former: DeviceBinding, to expected: DeviceBinding) throws {
        let move = try Move(former)
        let old = try move.bound.keys("from")
        if expected == .agent, former == .file { move.bound.tpm.failure = .noDevice }
        let parcel = try move.parcel()
        if expected == .agent { move.bound.tpm.failure = .noDevice }
        for _ in 0..<2 { try parcel.keepDeviceKeys(in: move.to) }
        #expect(try move.bound.keys("to") == old)
        try Vault.unpack(parcel, at: move.target)
        try move.expectOpen()
        #expect(try move.replace(old) == expected)
        try move.expectOpen()
        let new = try move.bound.keys("to")
        #expect(new.count == 1 && new != old)
        // Replace the keys again, as after an interruption.
        let state = try Vault.identity(at: move.target)
        try parcel.keepDeviceKeys(in: move.to)
        #expect(try move.replace(old) == expected)
        #expect(try Vault.identity(at: move.target) == state)
        #expect(try move.bound.keys("to") == new)
        // The agent has no record of which of its keys is the new one.
        #expect(try move.replace(old + new) == expected)
        let newest = try move.bound.keys("to")
        #expect(newest.count == 1 && newest != new && newest != old)
        // The copy that was left behind no longer has a key.
        try move.from.eraseAll(of: parcel.identity)
        #expect(try names(in: move.bound.folder.file("keys/from")).isEmpty)
        #expect(
            try move.bound.unlocked(with: move.from).entries.map(\.binding?.isHere)
                == [false, false])
        try move.expectOpen()
    }

    @Test(
        "after a move that was reversed, no entry keeps a key that was copied",
        arguments: [DeviceBinding.tpm, .file])
    func turnedBack(binding: DeviceBinding) throws {
        let move = try Move(binding)
        let old = try move.bound.keys("from")
        try move.parcel().keepDeviceKeys(in: move.to)
        // The vault returns with its key, which is still here, as the entries list it.
        try move.parcel().keepDeviceKeys(in: move.from)
        let vault = try move.bound.unlocked(with: move.from)
        let carried = move.from.homes(of: vault)
        #expect(carried.map(\.text) == old)
        let before = vault.entries.filter(\.isBoundHere).compactMap(\.binding)
        #expect(before.map(\.binding) == [binding])
        #expect(
            try move.from.replaceKeys(
                of: vault, carried: carried, through: move.bound.tokens(at:)) == .tpm)
        let after = vault.entries.filter(\.isBoundHere).compactMap(\.binding)
        #expect(after.count == 1 && !carried.contains(after[0].device))
        #expect(try move.bound.keys("from") == after.map(\.device.text))
        // The copied key no longer opens any entry.
        let copied = try move.bound.unlocked(with: move.to)
        #expect(copied.entries.allSatisfy { !$0.isBoundHere })
    }

    @Test("a failure at the new place leaves the entries with the keys that moved with them")
    func failure() throws {
        let move = try Move(.file)
        let old = try move.bound.keys("from")
        let parcel = try move.parcel()
        try parcel.keepDeviceKeys(in: move.to)
        try Vault.unpack(parcel, at: move.target)
        move.bound.tpm.failure = .busy
        #expect(throws: VaultError.deviceKey(.token(.busy))) { try move.replace(old) }
        #expect(try move.bound.keys("to") == old)
        try move.expectOpen()
        move.bound.tpm.failure = nil
        #expect(try move.replace(old) == .tpm)
        try move.expectOpen()
    }

    @Test("a vault is not packed if a key does not load or if the vault was changed")
    func notPacked() throws {
        let move = try Move(.tpm)
        move.bound.tpm.failure = .busy
        #expect(throws: VaultError.deviceKey(.token(.busy))) { try move.parcel() }
        move.bound.tpm.failure = nil
        let vault = try move.bound.unlocked(with: move.from)
        let keys = try move.from.keysToMove(of: vault, through: move.bound.tokens(at:))
        // Another program may be binding an entry to a new key.
        try move.bound.unlocked().update { changes throws(VaultError) in
            _ = try changes.add(
                .plainSecret(issuer: "", account: "b", value: SecretBytes(text: "x")), now: 2)
        }
        #expect(throws: VaultError.changedMeanwhile) {
            try move.from.pack(vault, with: keys, at: move.bound.path)
        }
    }

    @Test("a parcel with more keys than a vault needs is refused")
    func many() throws {
        let move = try Move(.file)
        let vault = try move.bound.unlocked(with: move.from)
        for _ in 0..<16 {
            _ = try move.from.make(
                .file, name: "Mill", for: vault, tpm: .standard, through: move.bound.tokens(at:))
        }
        let keys = try move.from.keysToMove(of: vault, through: move.bound.tokens(at:))
        #expect(keys.count == 17)
        #expect(throws: VaultError.overLimit(.parcel)) {
            try move.from.pack(vault, with: keys, at: move.bound.path)
        }
        // Parcels with more and more keys cannot fill the folder.
        let first = try Vault.pack(move.bound.path, with: Array(keys.prefix(9)))
        let second = try Vault.pack(move.bound.path, with: Array(keys.suffix(9)))
        try first.keepDeviceKeys(in: move.to)
        #expect(throws: VaultError.overLimit(.parcel)) {
            try second.keepDeviceKeys(in: move.to)
        }
        #expect(try move.bound.keys("to").count == 9)
    }
}
