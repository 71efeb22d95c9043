public import Devices
internal import OneTimePassword
internal import Synchronization
internal import WatchwordCryptography
public import WatchwordSystem

/// Identifies a key of a device: 16 random bytes, never derived from the hardware.
public struct DeviceID: Hashable, Sendable {
    private let id: RecordID

    static let count = RecordID.count

    /// Creates an ID from 16 bytes.
    init(_ bytes: Span<UInt8>) { id = RecordID(bytes) }

    /// Parses 32 hexadecimal digits, as ``text`` returns them; `nil` for anything else.
    init?(text: String) {
        let digits = Array(text.utf8)
        guard let bytes = ifPossible(try Hexadecimal.decode(digits.span)),
            bytes.count == DeviceID.count
        else { return nil }
        id = bytes.withBytes { RecordID($0) }
        guard self.text == text else { return nil }
    }

    /// The 16 bytes.
    var bytes: [UInt8] { id.bytes }
    /// 32 hexadecimal digits.
    public var text: String { id.text }
}

/// Where the key of a device is kept, strongest first.
public enum DeviceBinding: String, CaseIterable, Hashable, Sendable {
    /// The key is sealed by the computer's TPM.
    case tpm
    /// The key is in the system agent's folder.
    case agent
    /// The key is in the user's folder for state.
    case file

    /// The number of the binding in the file format.
    var number: UInt8 {
        switch self {
        case .tpm: 1
        case .agent: 2
        case .file: 3
        }
    }

    init?(number: UInt8) {
        guard let found = DeviceBinding.allCases.first(where: { $0.number == number }) else {
            return nil
        }
        self = found
    }
}

/// The reason why a key of this device cannot be used.
public enum DeviceKeyProblem: Hashable, Sendable {
    /// The key was here when the vault was opened, and is gone.
    case missing
    /// The content of the key's file is not valid.
    case damaged
    /// Other users can read its file, or write to the folder of its file.
    case openToOthers
    /// The key's file, or its folder, belongs to another user.
    case otherOwner
    /// The key's file, or its folder, is of a different type, such as a symbolic link.
    case inTheWay
    /// This program does not keep keys with this binding.
    case notPlace(DeviceBinding)
    /// The key is sealed by a TPM that the system agent does not use.
    case otherTPM
    /// The key is sealed by a TPM that is used only while the vault is open.
    case notLocked
    /// The TPM does not unseal the key.
    case token(TokenFailure)
    /// The key's file cannot be read or written.
    case file(SystemCallFailure)
}

/// The key of a device for one vault: it opens the inner boxes of the records that are bound to the
/// device.
package struct DeviceKey: Sendable {
    package let id: DeviceID
    /// The device's name, for display only.
    package let name: String
    package let binding: DeviceBinding
    let secret: SecretBytes

    static let count = 32
    /// The maximum size of a name in bytes.
    static let longestName = 64

    /// Combines the parts; `nil` if the name or the secret is invalid.
    init?(id: DeviceID, name: String, binding: DeviceBinding, secret: SecretBytes) {
        guard DeviceKey.isName(name), secret.count == DeviceKey.count else { return nil }
        self.id = id
        self.name = name
        self.binding = binding
        self.secret = SecretBytes(key: secret)
    }

    /// Whether `name` is valid: 1 to ``longestName`` bytes, without control characters.
    static func isName(_ name: String) -> Bool {
        (1...longestName).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// A valid name made from `text`: without control characters, and cut to the maximum length.
    static func name(showing text: String) -> String {
        var name = ""
        for character in text.prefix(longestName) where isName(name + String(character)) {
            name.append(character)
        }
        return name.isEmpty ? "device" : name
    }

    /// The key that seals and opens a record's inner box.
    func recordKey(_ id: RecordID, in vaultID: [UInt8]) -> SecretBytes {
        derived("record", id.bytes, in: vaultID)
    }

    /// 16 bytes that are equal for equal secrets, and reveal nothing without this key.
    func fingerprint(of payload: RecordPayload, in vaultID: [UInt8]) -> [UInt8] {
        payload.fingerprint(under: derived("fingerprint", [], in: vaultID))
    }

    private func derived(_ purpose: String, _ suffix: [UInt8], in vaultID: [UInt8]) -> SecretBytes {
        let info = Array("watchword-device 1 \(purpose)".utf8) + suffix
        return hkdfSHA256(
            secret: secret, salt: vaultID.span, info: info.span, count: DeviceKey.count)
    }
}

/// The keys of this device that were loaded for an open vault, which all copies of its key share.
final class DeviceKeyRing: Sendable {
    private struct Known {
        var keys: [DeviceID: DeviceKey] = [:]
        var seen: Set<DeviceID> = []
        var possible: Set<DeviceID> = []
        var problems: [DeviceID: DeviceKeyProblem] = [:]
        var isWiped = false

        var homes: Set<DeviceID> { seen.union(possible) }
    }

    private let known = Mutex(Known())
    /// Held while a key is loaded, so that each key is unsealed only once.
    let loading = Mutex(())

    /// The key with this ID; `nil` if it was not loaded.
    ///
    /// - Throws: ``VaultError/busy`` after ``wipe()``.
    func key(_ id: DeviceID) throws(VaultError) -> DeviceKey? { try keys()[id] }

    /// All keys that were loaded.
    func keys() throws(VaultError) -> [DeviceID: DeviceKey] {
        try known.withLock { known throws(VaultError) in
            guard !known.isWiped else { throw .busy }
            return known.keys
        }
    }

    /// The keys that this device has or may have, whether they were loaded or not.
    var homes: Set<DeviceID> { known.withLock { $0.homes } }

    /// Whether the file of this key was seen, or the key was loaded.
    func hasSeen(_ id: DeviceID) -> Bool { known.withLock { $0.seen.contains(id) } }

    /// Adds a key of this device.
    func attach(_ key: DeviceKey) throws(VaultError) {
        try known.withLock { known throws(VaultError) in
            guard !known.isWiped else { throw .busy }
            known.keys[key.id] = key
            known.seen.insert(key.id)
            known.problems[key.id] = nil
        }
    }

    /// Adds keys that this device has.
    ///
    /// A key that has disappeared later is reported as missing.
    ///
    /// - Parameter possible: keys that the device may have, because their folder cannot be read at
    ///   present.
    func addHomes(_ homes: Set<DeviceID>, orPerhaps possible: Set<DeviceID> = []) {
        known.withLock { known in
            known.seen.formUnion(homes)
            known.possible = possible
        }
    }

    /// Records why a key of this device was not loaded.
    func note(_ problem: DeviceKeyProblem, of id: DeviceID) {
        known.withLock { known in
            known.problems[id] = problem
            if problem == .missing { known.possible.remove(id) }
        }
    }

    /// The error for a record that is bound to `id` and does not open.
    func refusal(of id: DeviceID) -> VaultError {
        known.withLock { known in
            guard !known.isWiped else { return .busy }
            guard known.homes.contains(id) else { return .boundElsewhere }
            return .deviceKey(known.problems[id] ?? .missing)
        }
    }

    /// Forgets the keys; their bytes are wiped when they are no longer in use.
    func wipe() { known.withLock { $0 = Known(isWiped: true) } }
}
