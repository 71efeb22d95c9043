import Devices
import OneTimePassword
import SecretVault
import TestSupport
import WatchwordCryptography
import WatchwordSystem

@testable import VaultService

/// A vault with entries that are bound to devices, and the folders with the keys of two devices.
struct BoundVault {
    let folder: TemporaryFolder
    let tpm = MemoryTPM()
    let path: String

    static let opener = VaultOpener.passphrase(EditedVault.passphrase)

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("vault")
        try Vault.create(
            at: path, passphrase: EditedVault.passphrase, cost: .lowest, recoveryKey: nil, now: 1)
    }

    /// The keys of a device, which are kept in a folder with this name.
    func store(
        _ name: String = "here", _ bindings: [DeviceBinding] = [.tpm, .file]
    ) -> DeviceKeyStore {
        DeviceKeyStore(folder: folder.file("keys/" + name), bindings: bindings)
    }

    /// The vault as a device opens it.
    func unlocked(
        at path: String? = nil, with store: DeviceKeyStore? = nil
    ) throws(VaultError) -> UnlockedVault {
        let vault = try Vault.unlock(at: path ?? self.path, with: Self.opener)
        vault.openDevices(store ?? self.store())
        return vault
    }

    func tokens(at address: TPMAddress) -> any TokenRequestHandler { tpm }

    /// The names of the files with keys of a device.
    func keys(_ name: String = "here") throws -> [String] {
        let path = folder.file("keys/" + name)
        // The folder exists only if there is a key.
        return try (ifPossible(try names(in: path)) ?? []).flatMap {
            try names(in: path + "/" + $0)
        }
    }

    /// The vault as used by a command on a device whose keys are in files.
    func own(_ name: String = "here") throws -> OwnVault {
        let store = store(name, [.file])
        return OwnVault(try unlocked(with: store), at: path, deviceKeys: store)
    }

    static let choice = BindingChoice(nil, deviceName: "Mill", tpm: .standard)

    static func entry(
        _ account: String, _ binding: BindingChoice? = choice,
        presence: AccessControl.Presence = .perUnlock, key: SecretBytes = EditedVault.key
    ) throws -> NewEntry {
        NewEntry(
            try EditedVault.totp("Mill", account, key: key), details: EntryDetails(),
            accessControl: AccessControl(presence: presence, onFailure: .lockOut),
            binding: binding)
    }
}

extension OwnVault {
    /// The outcome of an edit.
    func outcome(
        _ edit: VaultEdit, _ presence: AgentPresence = .none
    ) throws -> EditOutcome {
        guard case .edited(let outcome, _) = try send(.edit(place, edit, presence)) else {
            throw AgentFailure.malformed
        }
        return outcome
    }

    /// The error of a failed request; `nil` if it succeeded.
    func failure(_ request: AgentRequest) throws -> VaultError? {
        guard case .failed(let error) = try send(request) else { return nil }
        return error
    }

    /// The request for the code at time 59 in Unix seconds.
    func code(of id: RecordID, _ presence: AgentPresence = .none) -> AgentRequest {
        .code(place, id, .moment(59, offset: 0, isRefresh: false), presence)
    }

    /// The code at time 59 in Unix seconds.
    func codeText(of id: RecordID) throws -> String {
        guard case .code(let code) = try send(code(of: id)) else { throw AgentFailure.malformed }
        return code.text
    }
}
