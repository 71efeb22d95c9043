package import Devices
internal import Synchronization
internal import WatchwordCryptography
internal import WatchwordSystem

/// The files with this device's keys: one folder for each vault, and in it one file for each key.
///
/// The store never replaces a key.
package struct DeviceKeyStore: Sendable {
    private let folder: String
    package let bindings: [DeviceBinding]
    private let locksKeys: Bool

    /// - Parameters:
    ///   - folder: the path of the folder, which may not exist yet.
    ///   - bindings: the bindings of the keys that are kept here, strongest first.
    ///   - locksKeys: whether a key is used only in memory that is never written to swap.
    package init(folder: String, bindings: [DeviceBinding], locksKeys: Bool = false) {
        self.folder = folder
        self.bindings = bindings
        self.locksKeys = locksKeys
    }

    /// Provides the process that communicates with the TPM at an address.
    package typealias TokenAccess = (TPMAddress) throws(VaultError) -> any TokenRequestHandler

    /// The keys of this device for a vault, whether or not they can be used.
    ///
    /// If the folder cannot be read, every key counts as possibly present, and loading a missing
    /// key reports the problem.
    package func homes(of vault: UnlockedVault) -> Set<DeviceID> {
        let (seen, possible) = findHomes(of: vault)
        return seen.union(possible)
    }

    /// The keys whose files were seen here, and the keys that may be here because the folder cannot
    /// be read.
    fileprivate func findHomes(
        of vault: UnlockedVault
    ) -> (seen: Set<DeviceID>, possible: Set<DeviceID>) {
        guard let ids = ids(of: vault.key.vaultID) else {
            return ([], Set(vault.state.records.compactMap(\.device)))
        }
        return (Set(ids), [])
    }

    /// The IDs of the vault's keys; `nil` if the folder cannot be read.
    func ids(of vaultID: [UInt8]) -> [DeviceID]? {
        names(of: vaultID)?.compactMap { DeviceID(text: $0) }
    }

    private func names(of vaultID: [UInt8]) -> [String]? {
        ifPossible(
            try SystemCallFailure.nilIf({ $0.isMissing }, Folder.names(at: path(of: vaultID)))
                ?? [])
    }

    private func path(of vaultID: [UInt8]) -> String {
        folder + "/" + DeviceKeyStore.name(of: vaultID)
    }

    private static func name(of vaultID: [UInt8]) -> String { RecordID(vaultID.span).text }

    /// Loads a key of this device, unless it was loaded before.
    ///
    /// - Throws: ``VaultError/deviceKey(_:)``, which is also recorded for later attempts to open a
    ///   record that is bound to the key.
    package func load(
        _ id: DeviceID, for vault: UnlockedVault, through token: TokenAccess
    ) throws(VaultError) {
        let (devices, vaultID) = (vault.key.devices, vault.key.vaultID)
        try devices.loading.withLock { _ throws(VaultError) in
            guard try devices.key(id) == nil else { return }
            let key = Result { () throws(VaultError) in
                try loaded(id, of: vaultID, through: token)
            }
            if case .failure(.deviceKey(let problem)) = key { devices.note(problem, of: id) }
            try devices.attach(key.get())
        }
    }

    private func loaded(
        _ id: DeviceID, of vaultID: [UInt8], through token: TokenAccess
    ) throws(VaultError) -> DeviceKey {
        let stored = try stored(id, of: vaultID)
        guard bindings.contains(stored.binding) else {
            throw .deviceKey(.notPlace(stored.binding))
        }
        let secret: SecretBytes
        switch stored.holding {
        case .secret(let found): secret = found
        case .sealed(let object, let address):
            let response = try DeviceKeyStore.carryOut(
                .unseal(object, in: address), through: token(address))
            guard case .secret(let found) = response else {
                throw .deviceKey(.token(.badHelperResponse))
            }
            secret = found
        }
        return try usable(
            DeviceKey(id: id, name: stored.name, binding: stored.binding, secret: secret))
    }

    /// The key; throws if there is none, or if its memory is not locked although it must be.
    private func usable(_ key: DeviceKey?) throws(VaultError) -> DeviceKey {
        guard let key else { throw .deviceKey(.damaged) }
        guard !locksKeys || key.secret.isLocked else { throw .deviceKey(.notLocked) }
        return key
    }

    /// The newest key for a vault that has this binding and is not among `others`.
    ///
    /// Files that cannot be read are skipped.
    ///
    /// - Parameter tpm: the TPM that has sealed the key, if a TPM is the binding.
    package func newestKey(
        _ binding: DeviceBinding, for vault: UnlockedVault, in tpm: TPMAddress = .standard,
        besides others: Set<DeviceID> = []
    ) -> DeviceID? {
        let vaultID = vault.key.vaultID
        var newest: (id: DeviceID, time: Int64)?
        for id in ids(of: vaultID) ?? [] where !others.contains(id) {
            guard let key = ifPossible(try stored(id, of: vaultID)), key.binding == binding,
                (key.tpm ?? tpm) == tpm,
                let time = FileStamp(of: path(of: vaultID) + "/" + id.text)?.writtenAt,
                newest.map({ time > $0.time }) ?? true
            else { continue }
            newest = (id, time)
        }
        return newest?.id
    }

    /// Creates a key, and loads it from the disk to verify it: if a TPM sealed a key and could not
    /// unseal it, the entries bound to the key would be lost.
    ///
    /// - Throws: ``VaultError/deviceKey(_:)``.
    package func make(
        _ binding: DeviceBinding, name: String, for vault: UnlockedVault, tpm: TPMAddress,
        through token: TokenAccess
    ) throws(VaultError) -> DeviceID {
        guard bindings.contains(binding) else { throw .deviceKey(.notPlace(binding)) }
        let id = Randomness.bytes(count: DeviceID.count)
        let key = try usable(
            DeviceKey(
                id: DeviceID(id.span), name: DeviceKey.name(showing: name), binding: binding,
                secret: Randomness.secret(count: DeviceKey.count)))
        var holding = StoredDeviceKey.Holding.secret(key.secret)
        if binding == .tpm {
            let response = try DeviceKeyStore.carryOut(
                .seal(key.secret, pin: nil, isBoundToPCR7: false, in: tpm), through: token(tpm))
            guard case .sealed(let object) = response else {
                throw .deviceKey(.token(.badHelperResponse))
            }
            holding = .sealed(object, in: tpm)
        }
        try write(key, holding, of: vault.key.vaultID)
        try load(key.id, for: vault, through: token)
        return key.id
    }

    /// Stores a key that came with a moved vault, under the same ID.
    package func keep(_ carried: DeviceKey, of vaultID: [UInt8]) throws(VaultError) {
        guard let binding = bindings.last, binding != .tpm,
            let key = DeviceKey(
                id: carried.id, name: carried.name, binding: binding, secret: carried.secret)
        else { throw .deviceKey(.notPlace(carried.binding)) }
        guard ids(of: vaultID)?.contains(key.id) == true else {
            return try write(key, .secret(key.secret), of: vaultID)
        }
        // IDs are random, so a key that a TPM has sealed under this ID is the same key.
        if case .secret(let secret) = try stored(key.id, of: vaultID).holding {
            guard secret == key.secret else { throw .deviceKey(.damaged) }
        }
    }

    /// Erases keys; missing keys are ignored.
    ///
    /// - Parameter ids: the keys; `nil` for all keys for the vault, including incomplete ones left
    ///   by a killed writer, and their folder.
    package func erase(_ ids: Set<DeviceID>?, of vaultID: [UInt8]) throws(VaultError) {
        try file(of: vaultID) { () throws(FileError) in
            guard let parent = try open() else { return }
            let name = DeviceKeyStore.name(of: vaultID)
            guard let folder = try parent.openPrivateFolder(name) else { return }
            let known = names(of: vaultID) ?? []
            for id in ids ?? Set(known.compactMap { DeviceID(text: String($0.prefix(32))) }) {
                let file = StoredDeviceKey.file(id)
                var linked: [LinkedFile] = []
                try file.eraseAllButCurrent(in: folder, besides: folder, noting: &linked)
                try file.eraseCurrent(in: folder, besides: folder, noting: &linked)
            }
            guard ids == nil else { return }
            try FileError.system(in: parent.removeFolder(name))
        }
    }
}

extension DeviceKeyStore {
    /// The folder with the folders of all vaults; `nil` if there is none.
    private func open() throws(FileError) -> Folder? {
        try FileError.system(
            in: SystemCallFailure.nilIf({ $0.isMissing }, try Folder(opening: folder)))
    }

    /// The folder with the keys for a vault; `nil` if there is none.
    private func open(_ vaultID: [UInt8]) throws(FileError) -> Folder? {
        guard let parent = try open() else { return nil }
        return try parent.openPrivateFolder(DeviceKeyStore.name(of: vaultID))
    }

    private func stored(
        _ id: DeviceID, of vaultID: [UInt8]
    ) throws(VaultError) -> StoredDeviceKey {
        var bytes = try file(of: vaultID) { () throws(FileError) in
            guard let folder = try open(vaultID) else { throw .missing }
            return try folder.readPrivateFile(id.text, limit: StoredDeviceKey.limit)
        }
        // The key is parsed into memory that is wiped.
        defer { for index in bytes.indices { bytes[index] = 0 } }
        return try replacingErrors(
            of: StoredDeviceKey(parsing: bytes.span, of: id, in: vaultID),
            with: VaultError.deviceKey(.damaged))
    }

    private func write(
        _ key: DeviceKey, _ holding: StoredDeviceKey.Holding, of vaultID: [UInt8]
    ) throws(VaultError) {
        let stored = StoredDeviceKey(name: key.name, binding: key.binding, holding: holding)
        let content = stored.content(of: key.id, in: vaultID)
        try file(of: vaultID) { () throws(FileError) in
            try FileError.system(in: Folder.make(folder))
            let parent = try FileError.system(in: Folder(opening: folder))
            let folder = try parent.makePrivateFolder(DeviceKeyStore.name(of: vaultID))
            try content.withBytes { bytes throws(FileError) in
                try StoredDeviceKey.file(key.id).replace(
                    with: bytes, in: folder, previous: .absent)
            }
        }
    }

    private static func carryOut(
        _ request: TokenRequest, through handler: any TokenRequestHandler
    ) throws(VaultError) -> TokenResponse {
        var person = NoPerson()
        return try Result { () throws(TokenFailure) in
            try handler.carryOut(request, with: &person)
        }.mapError { VaultError.deviceKey(.token($0)) }.get()
    }

    /// Converts an error about a key's file to a ``DeviceKeyProblem``.
    private func file<Value>(
        of vaultID: [UInt8], _ body: () throws(FileError) -> Value
    ) throws(VaultError) -> Value {
        try Result(catching: body).mapError {
            VaultError.deviceKey(DeviceKeyProblem($0, in: path(of: vaultID)))
        }.get()
    }

    /// No question is asked: a TPM needs no touch, and the keys have no PIN.
    private struct NoPerson: TokenHelper.Person {
        func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? { nil }
        func touch(number: Int, of count: Int) {}
    }
}

extension DeviceKeyProblem {
    /// - Parameter folder: the path of the folder with the key's file.
    fileprivate init(_ error: FileError, in folder: String) {
        self =
            switch error {
            case .missing: .missing
            case .openToOthers: .openToOthers
            case .otherOwner: .otherOwner
            case .symbolicLink, .folder, .notAFile: .inTheWay
            case .inTheWay:
                SystemFolder.owner(of: folder).map {
                    $0 == CurrentProcess.user ? .openToOthers : .otherOwner
                } ?? .inTheWay
            case .system(let failure), .notConfirmed(let failure): .file(failure)
            default: .damaged
            }
    }
}

/// The content of a key's file, as defined in VaultFile.md.
private struct StoredDeviceKey {
    enum Holding {
        case secret(SecretBytes)
        case sealed(TPMObject, in: TPMAddress)
    }

    let name: String
    let binding: DeviceBinding
    let holding: Holding

    /// The TPM that has sealed the key; `nil` for a key with a different binding.
    var tpm: TPMAddress? { if case .sealed(_, let address) = holding { address } else { nil } }

    private static let firstLine = Array("watchword-device-key 1\n".utf8)
    /// The maximum size of a file in bytes.
    static let limit = 4 << 10

    static func file(_ id: DeviceID) -> FileReplacement {
        FileReplacement(of: id.text, beginningWith: firstLine)
    }

    /// The bytes of the file.
    func content(of id: DeviceID, in vaultID: [UInt8]) -> SecretBytes {
        let content = SecretBytes(capacity: StoredDeviceKey.limit) { output in
            output.append(copying: StoredDeviceKey.firstLine.span)
            output.append(string: vaultID.span)
            output.append(string: id.bytes.span)
            output.append(string: Array(name.utf8).span)
            output.append(binding.number)
            switch holding {
            case .secret(let secret): secret.withBytes { output.append(string: $0) }
            case .sealed(let object, let address):
                output.append(string: Array(address.text.utf8).span)
                output.append(string: object.publicArea.span)
                output.append(string: object.privateArea.span)
            }
        }
        let digest = content.withBytes { sha256($0) }
        return SecretBytes(joining: content, SecretBytes(copying: digest.span))
    }
}

extension StoredDeviceKey {
    /// Parses the bytes of a file.
    fileprivate init(
        parsing bytes: Span<UInt8>, of id: DeviceID, in vaultID: [UInt8]
    ) throws(FieldReader.Unreadable) {
        var fields = FieldReader(.bigEndian)
        let firstLine = try fields.take(StoredDeviceKey.firstLine.count, of: bytes)
        guard firstLine.map({ bytes[$0] }) == StoredDeviceKey.firstLine,
            try fields.data(bytes, limit: vaultID.count) == vaultID,
            try fields.data(bytes, limit: DeviceID.count) == id.bytes
        else { throw FieldReader.Unreadable() }
        name = try fields.text(bytes, limit: DeviceKey.longestName)
        guard let found = DeviceBinding(number: try fields.byte(bytes)) else {
            throw FieldReader.Unreadable()
        }
        binding = found
        if binding == .tpm {
            let address = TPMAddress(try fields.text(bytes, limit: StoredDeviceKey.limit))
            let object = TPMObject(
                publicArea: try fields.data(bytes, limit: TPMObject.largestArea),
                privateArea: try fields.data(bytes, limit: TPMObject.largestArea),
                requiresPIN: false, isBoundToPCR7: false)
            guard let address, let object else { throw FieldReader.Unreadable() }
            holding = .sealed(object, in: address)
        } else {
            let secret = try fields.string(bytes, limit: DeviceKey.count)
            holding = .secret(SecretBytes(copying: bytes.extracting(secret)))
        }
        let digest = sha256(bytes.extracting(0..<fields.position))
        let expected = try fields.take(digest.count, of: bytes)
        guard expected.map({ bytes[$0] }) == digest else { throw FieldReader.Unreadable() }
        try fields.finish(bytes)
    }
}

extension UnlockedVault {
    /// Records in the vault which keys this device has.
    package func openDevices(_ store: DeviceKeyStore) {
        guard state.records.contains(where: { $0.device != nil }) else { return }
        let (seen, possible) = store.findHomes(of: self)
        key.devices.addHomes(seen, orPerhaps: possible)
    }

    /// Whether opening an entry needs no key of a device, or the key was loaded.
    package func holdsKey(of entry: EntrySummary) -> Bool {
        guard let device = entry.binding?.device else { return true }
        return (ifPossible(try key.devices.key(device)) ?? nil) != nil
    }
}
