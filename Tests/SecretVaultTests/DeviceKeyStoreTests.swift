import Devices
import Foundation
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// Reading, writing and erasing the files with a device's keys.
struct DeviceKeyStoreTests {
    /// Returns the error of loading a key.
    private func refusal(
        of id: DeviceID, on device: TestDevice, _ vault: UnlockedVault
    ) -> VaultError? {
        #expect(throws: VaultError.self) {
            try device.store.load(id, for: vault) { _ throws(VaultError) in device.tpm }
        }
    }

    @Test("a key is in a private file, and opens in another process the secrets that it has sealed")
    func made() throws {
        let bound = try BoundVault()
        let open = try bound.elsewhere()
        let path = bound.device.path(of: bound.key, for: open)
        #expect(try mode(of: path) == 0o600)
        #expect(try mode(of: bound.device.path(of: open)) == 0o700)
        #expect(try mode(of: bound.device.folder.file("state/device-keys")) == 0o700)
        #expect(try names(in: bound.device.path(of: open)) == [bound.key.text])
        #expect(bound.device.store.homes(of: open) == [bound.key])
        try bound.device.load(open)
        #expect(throws: Never.self) { try open.open(bound.ids[0]) }
    }

    @Test("the content of a key's file matches its definition in VaultFile.md")
    func content() throws {
        let (vault, device) = (try TestVault(), try TestDevice())
        let open = try vault.unlock()
        func content(_ id: DeviceID) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: URL(filePath: device.path(of: id, for: open))))
        }
        func string(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }
        let plain = try device.makeKey(for: open, name: "Jörg\n")
        let key = try open.key.device(plain)
        let start = { (id: DeviceID, name: String) in
            Array("watchword-device-key 1\n".utf8) + string(open.key.vaultID) + string(id.bytes)
                + string(Array(name.utf8))
        }
        let body = start(plain, "Jörg") + [3] + string(key.secret.copied)
        #expect(try content(plain) == body + sha256(body.span))
        let sealed = try device.makeKey(.tpm, for: open)
        let address = string(Array("device:/dev/tpmrm0".utf8))
        let other = start(sealed, "laptop") + [1] + address + string([1]) + string([1])
        #expect(try content(sealed) == other + sha256(other.span))
    }

    @Test("a key that is missing, damaged or not private closes its entries, and is not changed")
    func unusable() throws {
        let bound = try BoundVault()
        let open = try bound.elsewhere()
        let path = bound.device.path(of: bound.key, for: open)
        let whole = [UInt8](try Data(contentsOf: URL(filePath: path)))
        func expect(_ problem: DeviceKeyProblem, _ comment: String = "") throws {
            let vault = try bound.elsewhere()
            vault.key.devices.addHomes([bound.key])
            let error = VaultError.deviceKey(problem)
            #expect(refusal(of: bound.key, on: bound.device, vault) == error, "\(comment)")
            #expect(throws: error) { try vault.open(bound.ids[0]) }
        }
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 1
            try Data(changed).write(to: URL(filePath: path))
            try expect(.damaged, "byte \(index)")
        }
        for count in [0, 23, whole.count - 1] {
            try Data(whole[..<count]).write(to: URL(filePath: path))
            try expect(.damaged, "\(count) bytes")
        }
        try Data(whole + [0]).write(to: URL(filePath: path))
        try expect(.damaged)
        #expect(bound.device.store.newestKey(.file, for: open) == nil)
        #expect(try names(in: bound.device.path(of: open)) == [bound.key.text])
        try Data(whole).write(to: URL(filePath: path))
        for mode in [0o640, 0o604, 0o620] {
            try setMode(mode, of: path)
            try expect(.openToOthers)
        }
        try setMode(0o600, of: path)
        let folder = bound.device.path(of: open)
        try setMode(0o720, of: folder)
        try expect(.openToOthers, "folder")
        try setMode(0o700, of: folder)
        for place in [path, folder] where geteuid() == 0 {
            #expect(unsafe chown(place, 65_534, 65_534) == 0)
            try expect(.otherOwner, place)
            #expect(unsafe chown(place, 0, 0) == 0)
        }
        #expect(throws: Never.self) { try bound.home().open(bound.ids[0]) }
        try removeFile(path)
        try expect(.missing)
        try removeFile(bound.device.folder.file("state"))
        try expect(.missing)
        #expect(try names(in: bound.device.folder.path) == [])
        // In a vault that is opened now, the entries count as bound to another device.
        #expect(throws: VaultError.boundElsewhere) { try bound.home().open(bound.ids[0]) }
    }

    @Test("a folder that cannot be read does not make its entries appear bound to another device")
    func unreadable() throws {
        let bound = try BoundVault()
        let open = try bound.elsewhere()
        let path = bound.device.path(of: open)
        try removeFile(path)
        try linkSymbolically(path, to: path)
        open.openDevices(bound.device.store)
        #expect(open.entries[0].binding?.isHere == true)
        #expect(refusal(of: bound.key, on: bound.device, open) == .deviceKey(.inTheWay))
        #expect(throws: VaultError.deviceKey(.inTheWay)) { try open.open(bound.ids[0]) }
        // The keys may still exist, so they are not replaced.
        #expect(throws: VaultError.deviceKey(.inTheWay)) {
            try open.rehearse { changes throws(VaultError) in
                try changes.requireHome(of: bound.ids[0])
            }
        }
        // When the folder can be read again, only the keys in it count as present.
        try removeFile(path)
        open.openDevices(bound.device.store)
        #expect(open.entries[0].binding?.isHere == false)
        #expect(throws: VaultError.boundElsewhere) { try open.open(bound.ids[0]) }
    }

    @Test("a key that is missing from a folder that could not be listed is reported as missing")
    func notListed() throws {
        let bound = try BoundVault()
        let open = try bound.elsewhere()
        open.key.devices.addHomes([], orPerhaps: [bound.key])
        let other = try TestDevice()
        #expect(refusal(of: bound.key, on: other, open) == .deviceKey(.missing))
        #expect(open.entries[0].binding?.isHere == false)
        try bound.device.load(open)
        #expect(open.entries[0].binding?.isHere == true)
        #expect(throws: Never.self) {
            try open.rehearse { changes throws(VaultError) in
                try changes.requireHome(of: bound.ids[0])
            }
        }
    }

    @Test("a key for another vault, under another ID, or behind a link is not used")
    func exchanged() throws {
        let (first, second) = (try BoundVault(), try BoundVault())
        let open = try first.elsewhere()
        let other = second.device.path(of: second.key, for: try second.elsewhere())
        let path = first.device.path(of: first.key, for: open)
        try removeFile(path)
        try linkFile(other, to: path)
        #expect(refusal(of: first.key, on: first.device, open) == .deviceKey(.damaged))
        let third = try first.device.makeKey(for: open)
        try removeFile(path)
        try linkFile(first.device.path(of: third, for: open), to: path)
        #expect(refusal(of: first.key, on: first.device, open) == .deviceKey(.damaged))
        try removeFile(path)
        try linkSymbolically(first.device.path(of: third, for: open), to: path)
        #expect(refusal(of: first.key, on: first.device, open) == .deviceKey(.inTheWay))
    }

    @Test("keys exist side by side, and the newest key with a given binding is found")
    func bindings() throws {
        let (vault, device) = (try TestVault(), try TestDevice())
        let open = try vault.unlock()
        #expect(device.store.newestKey(.file, for: open) == nil)
        let file = try device.makeKey(.file, for: open)
        #expect(device.store.newestKey(.tpm, for: open) == nil)
        let sealed = try device.makeKey(.tpm, for: open)
        #expect(device.store.newestKey(.tpm, for: open) == sealed)
        #expect(device.store.newestKey(.file, for: open) == file)
        // After the TPM was cleared, a new key is used instead of the old one.
        let later = try device.makeKey(.tpm, for: open)
        let past = Date(timeIntervalSinceNow: -5)
        try FileManager.default.setAttributes(
            [.modificationDate: past], ofItemAtPath: device.path(of: sealed, for: open))
        #expect(device.store.newestKey(.tpm, for: open) == later)
        #expect(device.store.newestKey(.tpm, for: open, besides: [later]) == sealed)
        #expect(device.store.homes(of: open) == [file, sealed, later])
        let agent = VaultError.deviceKey(.notPlace(.agent))
        #expect(throws: agent) { try device.makeKey(.agent, for: open) }
        let other = DeviceKeyStore(
            folder: device.folder.file("state/device-keys"), bindings: [.tpm, .agent])
        let copy = try vault.unlock()
        #expect(throws: VaultError.deviceKey(.notPlace(.file))) {
            try other.load(file, for: copy) { _ throws(VaultError) in device.tpm }
        }
    }

    @Test("a TPM unseals a key only once for each unlock")
    func unsealing() async throws {
        let bound = try BoundVault(.tpm)
        let path = bound.device.path(of: bound.key, for: try bound.elsewhere())
        let secret = try bound.home().key.device(bound.key).secret.copied
        let stored = try Data(contentsOf: URL(filePath: path))
        #expect(stored.range(of: Data(secret)) == nil)
        let before = bound.device.tpm.requests
        let held = HeldVault(try bound.elsewhere())
        let (device, ids) = (bound.device, bound.ids)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let open = held.vault()
                    try device.load(open)
                    return try ids.map { try open.open($0) }.count
                }
            }
            for try await opened in group { #expect(opened == 4) }
        }
        #expect(bound.device.tpm.requests == before + 1)
        held.heldKey.wipe()
        let open = held.vault()
        #expect(throws: VaultError.busy) { try bound.device.load(open) }
        #expect(throws: VaultError.busy) { try open.open(bound.ids[0]) }
        #expect(bound.device.tpm.requests == before + 1)
    }

    @Test("a TPM that was cleared closes the entries, and no key is replaced")
    func cleared() throws {
        let bound = try BoundVault(.tpm)
        bound.device.tpm.clear()
        let open = try bound.elsewhere()
        open.openDevices(bound.device.store)
        let error = VaultError.deviceKey(.token(.otherDevice))
        #expect(refusal(of: bound.key, on: bound.device, open) == error)
        #expect(throws: error) { try open.open(bound.ids[0]) }
        #expect(bound.device.store.homes(of: open) == [bound.key])
        #expect(open.entries[0].binding?.isHere == true)
        // No entry is bound to a new key that the TPM seals but does not unseal.
        let (store, tpm) = (bound.device.store, bound.device.tpm)
        #expect(throws: error) {
            try store.make(.tpm, name: "a", for: open, tpm: .standard) { _ throws(VaultError) in
                tpm.clear()
                return tpm
            }
        }
        #expect(try open.key.devices.keys().isEmpty)
    }

    @Test("a key that a killed writer has not completed is ignored")
    func killed() throws {
        let bound = try BoundVault()
        let open = try bound.elsewhere()
        let id = DeviceID([UInt8](repeating: 4, count: 16).span)
        let path = bound.device.path(of: id, for: open)
        try Data("watchword-device".utf8).write(to: URL(filePath: path + ".new"))
        try setMode(0o600, of: path + ".new")
        #expect(bound.device.store.homes(of: open) == [bound.key])
        #expect(bound.device.store.newestKey(.file, for: open) == bound.key)
        try bound.device.store.erase(nil, of: open.key.vaultID)
        #expect(!FileManager.default.fileExists(atPath: bound.device.path(of: open)))
    }

    @Test(
        "on a full disk, no key is created, and no entry is bound",
        .enabled(if: SmallDisk.canMount, "a small disk cannot be mounted here"))
    func fullDisk() throws {
        let disk = try SmallDisk(bytes: 64 << 10)
        let vault = try TestVault()
        let open = try vault.unlock()
        let store = DeviceKeyStore(folder: disk.file("keys"), bindings: [.file])
        func make() throws(VaultError) -> DeviceID {
            try store.make(.file, name: "a", for: open, tpm: .standard) { _ throws(VaultError) in
                throw .busy
            }
        }
        let first = try make()
        try disk.fillUp()
        let error = #expect(throws: VaultError.self) { try make() }
        guard case .deviceKey(.file(let failure)) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(failure.number == ENOSPC)
        #expect(store.homes(of: open) == [first])
        #expect(open.key.devices.homes == [first])
    }

    @Test("a moved vault's key keeps its ID, and an existing key is not replaced")
    func kept() throws {
        let bound = try BoundVault(.tpm)
        let home = try bound.home()
        let key = try home.key.device(bound.key)
        let sent = try MessageForm.bytes(of: key)
        let carried = try #require(MessageForm.read(sent, as: DeviceKey.self))
        #expect(carried.secret == key.secret && carried.name == key.name)
        let agent = try TestDevice([.tpm, .agent])
        for _ in 0..<2 { try agent.store.keep(carried, of: home.key.vaultID) }
        let open = try bound.vault.unlock()
        try agent.load(open)
        #expect(throws: Never.self) { try open.open(bound.ids[0]) }
        #expect(try open.key.device(bound.key).binding == .agent)
        // The listed bindings stay unchanged until the records are bound to a different key.
        #expect(open.entries.map(\.binding?.binding) == [.tpm, .tpm, .tpm, .tpm])
        let other = DeviceKey(
            id: key.id, name: key.name, binding: .tpm, secret: Randomness.secret(count: 32))
        #expect(throws: VaultError.deviceKey(.damaged)) {
            try agent.store.keep(#require(other), of: home.key.vaultID)
        }
        // The first device has the key already.
        try bound.device.store.keep(carried, of: home.key.vaultID)
        #expect(throws: VaultError.deviceKey(.notPlace(.tpm))) {
            try TestDevice([.tpm]).store.keep(carried, of: home.key.vaultID)
        }
    }

    @Test("only the specified keys are erased")
    func erased() throws {
        let (vault, device) = (try TestVault(), try TestDevice())
        let open = try vault.unlock()
        let (first, second) = (try device.makeKey(for: open), try device.makeKey(.tpm, for: open))
        let unknown = DeviceID([UInt8](repeating: 4, count: 16).span)
        try device.store.erase([first, unknown], of: open.key.vaultID)
        #expect(device.store.homes(of: open) == [second])
        try device.store.erase(nil, of: open.key.vaultID)
        try device.store.erase(nil, of: open.key.vaultID)
        #expect(!FileManager.default.fileExists(atPath: device.path(of: open)))
        #expect(throws: Never.self) { try TestDevice().store.erase(nil, of: [UInt8](0..<16)) }
    }

    @Test("a device's name has no control characters, and at most 64 bytes")
    func deviceNames() {
        for (text, name) in [
            ("laptop", "laptop"), ("", "device"), ("\n\u{1b}", "device"), ("a\tb", "ab"),
            (String(repeating: "ü", count: 40), String(repeating: "ü", count: 32)),
        ] {
            #expect(DeviceKey.name(showing: text) == name)
            #expect(DeviceKey.isName(name))
        }
        #expect(!DeviceKey.isName("") && !DeviceKey.isName("a\u{7f}"))
        #expect(!DeviceKey.isName(String(repeating: "a", count: 65)))
    }

    @Test("a device's ID is read back from its text, and other texts are refused")
    func deviceIDs() {
        let bytes = (0..<16).map { UInt8(17 * $0) }
        let id = DeviceID(bytes.span)
        #expect(id.text == "00112233445566778899aabbccddeeff")
        #expect(DeviceID(text: id.text) == id)
        for text in ["", "00", id.text + "00", id.text + ".new", id.text.uppercased()] {
            #expect(DeviceID(text: text) == nil)
        }
    }
}
