import Devices
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// A simulated device: its folder of keys, and its TPM.
final class TestDevice: Sendable {
    let folder: TemporaryFolder
    let tpm = MemoryTPM()
    let store: DeviceKeyStore

    init(_ bindings: [DeviceBinding] = [.tpm, .file]) throws {
        folder = try TemporaryFolder()
        store = DeviceKeyStore(folder: folder.file("state/device-keys"), bindings: bindings)
    }

    /// Creates a key of this device for a vault.
    func makeKey(
        _ binding: DeviceBinding = .file, for vault: UnlockedVault, name: String = "laptop"
    ) throws(VaultError) -> DeviceID {
        try store.make(binding, name: name, for: vault, tpm: .standard) {
            _ throws(VaultError) in tpm
        }
    }

    /// Loads the device's keys for a vault.
    func load(_ vault: UnlockedVault) throws(VaultError) {
        vault.openDevices(store)
        for id in store.homes(of: vault) {
            try store.load(id, for: vault) { _ throws(VaultError) in tpm }
        }
    }

    /// Opens a vault on this device.
    func unlock(_ vault: TestVault) throws(VaultError) -> UnlockedVault {
        let open = try vault.unlock()
        try load(open)
        return open
    }

    /// The folder with the keys for a vault.
    func path(of vault: UnlockedVault) -> String {
        folder.file("state/device-keys/" + Hex.text(vault.key.vaultID))
    }

    /// The path of a key's file.
    func path(of id: DeviceID, for vault: UnlockedVault) -> String {
        path(of: vault) + "/" + id.text
    }
}

/// A form of an enrolled secret, as VaultFile.md defines it.
func enrolledForm(
    generation: UInt64, isPresented: Bool, hasSuccessor: Bool = false
) -> SecretBytes {
    let nonce = [UInt8](repeating: 7, count: 16)
    let parts: [[UInt8]] = [
        Array("wws_\(generation)".utf8), isPresented || hasSuccessor ? nonce : [],
        hasSuccessor ? Array("wws_next".utf8) : [], hasSuccessor && isPresented ? nonce : [],
    ]
    return SecretBytes(capacity: 512) { output in
        output.append(1)
        for text in ["https://example.com", "", "cr_1"] {
            output.append(string: Array(text.utf8).span)
        }
        output.append(5, bytes: 8)
        output.append(generation, bytes: 8)
        for part in parts { output.append(string: part.span) }
    }
}

/// A vault on its device, with a bound entry of each kind.
struct BoundVault {
    let vault: TestVault
    let device: TestDevice
    let key: DeviceID
    let ids: [RecordID]

    /// - Parameter bound: the places of the entries that are bound; all by default.
    init(_ binding: DeviceBinding = .file, bound: Range<Int> = 0..<4) throws {
        let (vault, device) = (try TestVault(recoveryKey: true), try TestDevice())
        let ids = try vault.fill()
        let open = try vault.unlock()
        let key = try device.makeKey(binding, for: open)
        try open.change { changes in
            for id in ids[bound] { try changes.bind(id, to: key, now: TestVault.now) }
        }
        (self.vault, self.device, self.key, self.ids) = (vault, device, key, ids)
    }

    /// The vault, opened at home.
    func home() throws(VaultError) -> UnlockedVault { try device.unlock(vault) }

    /// The vault, opened on another device.
    func elsewhere() throws(VaultError) -> UnlockedVault { try vault.unlock() }
}
