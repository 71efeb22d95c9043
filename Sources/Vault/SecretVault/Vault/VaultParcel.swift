internal import WatchwordCryptography
package import WatchwordSystem

/// A vault's file with the data that the program keeps about the vault on this machine, used to
/// move the vault to another folder.
///
/// The previous generation is not part of it.
package struct VaultParcel: Sendable {
    let document: VaultDocument
    let attempts: Attempts
    /// The `uses` file; empty if there is none.
    let uses: [UInt8]
    let presented: PresentedSecrets
    /// The newest generation seen; `nil` if none was recorded.
    let newest: GenerationRecord?
    /// The keys of this device to which the vault's entries are bound.
    package let deviceKeys: [DeviceKey]

    /// The maximum number of ``deviceKeys``.
    fileprivate static let mostKeys = 16
    /// The size of the largest file that fits in a request with the other parts.
    static let largestFile = VaultLimits.fileSize - (6 << 20)

    /// The state of the file.
    package var identity: VaultIdentity { VaultIdentity(document) }
}

extension VaultParcel: Transferable {
    package func write(to output: FrameWriter) {
        output.append(string: document.bytes.span)
        output.append(string: uses.span)
        let record = newest?.text ?? []
        output.append(string: record.span)
        // Values that were read from a file within the limits can be written again.
        let counts = AttemptsFile.holding(attempts)
        output.append(string: counts.span)
        let secrets = presented.text()
        output.append(string: secrets.span)
        output.append(deviceKeys)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let file = try fields.data(bytes, limit: VaultParcel.largestFile)
        let uses = try fields.data(bytes, limit: LastUses.sizeLimit)
        newest = GenerationRecord(
            reading: try fields.data(bytes, limit: GenerationRecord.sizeLimit))
        let attempts = try fields.data(bytes, limit: 2 * AttemptsFile.slotCount)
        let presented = try fields.data(bytes, limit: PresentedSecrets.sizeLimit)
        deviceKeys = try fields.list(bytes, most: VaultParcel.mostKeys)
        do throws(VaultError) {
            document = try VaultDocument(parsing: file)
            self.attempts = try AttemptsFile(reading: attempts, of: document.vaultID).attempts
            self.presented = try PresentedSecrets(reading: presented)
            let limit = LastUses.limit(entries: document.records.count)
            self.uses = uses.count <= limit ? uses : []
        } catch {
            throw Unreadable()
        }
    }
}

/// A parcel whose vault has been opened in memory.
package struct OpenedParcel: Sendable {
    package let parcel: VaultParcel
    private let slot: OpenedSlot

    /// The state of the file.
    package var identity: VaultIdentity { parcel.identity }

    fileprivate init(_ parcel: VaultParcel, _ slot: OpenedSlot) {
        self.parcel = parcel
        self.slot = slot
    }

    /// Whether the vault at `path` has the same key, and this vault contains its last save.
    package func includes(_ path: String) throws(VaultError) -> Bool {
        let document = try VaultDocument(parsing: VaultLocation(path).read())
        do throws(VaultError) {
            let other = try VaultState(verifying: document, with: slot.key)
            return !slot.state.history.lacks(other.history.newest)
        } catch .damaged {
            return false
        }
    }

    /// Whether `vault` contains the last save of this vault.
    package func isIncluded(in vault: UnlockedVault) -> Bool {
        !vault.state.history.lacks(slot.state.history.newest)
    }
}

extension VaultParcel {
    /// Opens the vault in this parcel, and verifies it.
    ///
    /// Failures are not counted: anyone who has the parcel can copy it.
    package func opened(with opener: VaultOpener, ceiling: Int) throws(VaultError) -> OpenedParcel {
        OpenedParcel(self, try document.opened(with: opener, ceiling: ceiling))
    }
}

extension Vault {
    /// Reads the vault at `path` with the data that the program keeps about it, while no process
    /// can change them.
    ///
    /// - Parameter deviceKeys: the keys of this device to which the vault's entries are bound.
    /// - Throws: ``VaultError/busy`` while a presence check or a login has not ended, because the
    ///   outcome would be missing.
    package static func pack(
        _ path: String, with deviceKeys: [DeviceKey] = []
    ) throws(VaultError) -> VaultParcel {
        guard deviceKeys.count <= VaultParcel.mostKeys else { throw .overLimit(.parcel) }
        let location = try VaultLocation(path)
        try location.requireUnreservedPath()
        let vaultID = try VaultDocument(parsing: location.read()).vaultID
        let login = try location.lock(
            VaultLocation.loginLock, in: location.makeStateFolder(), timeout: VaultWriter.timeout)
        let counter = try AttemptCounter(location, of: vaultID)
        guard try counter.isNoCheckRunning() else { throw .busy }
        let writer = try VaultWriter(location)
        let document = try VaultDocument(parsing: writer.read())
        guard document.vaultID == vaultID else { throw .changedMeanwhile }
        guard document.bytes.count <= VaultParcel.largestFile else { throw .overLimit(.parcel) }
        let parcel = VaultParcel(
            document: document, attempts: try counter.read(),
            uses: location.uses(of: vaultID, entries: document.records.count),
            presented: try location.presented(), newest: writer.mark(of: vaultID),
            deviceKeys: deviceKeys)
        _ = consume login
        return parcel
    }

    /// Creates the vault in `parcel` at `path`, where no file may exist.
    ///
    /// The file appears last, when everything else is on disk.
    package static func unpack(_ parcel: VaultParcel, at path: String) throws(VaultError) {
        try requireUnusedPath(path)
        let location = try VaultLocation(path)
        try location.makeFolder()
        let vaultID = parcel.document.vaultID
        try AttemptCounter.prepare(location, of: vaultID)
        let counter = try AttemptCounter(location, of: vaultID)
        var writer = try VaultWriter(location)
        try counter.save(parcel.attempts)
        try location.write(besidesFileOf: parcel)
        if case .generationNotRecorded(let error)? = writer.write(parcel.record, isNew: true) {
            throw error
        }
        try writer.make(parcel.document.bytes, of: vaultID)
    }

    /// Replaces the vault at `path` with a newer state of it, and erases the earlier one.
    ///
    /// At every moment, the file is complete.
    ///
    /// - Parameter identity: the state of the file; nothing is replaced if the file has a different
    ///   one.
    package static func replace(
        _ path: String, in identity: VaultIdentity, with opened: OpenedParcel
    ) throws(VaultError) {
        let parcel = opened.parcel
        let location = try VaultLocation(path)
        let vaultID = parcel.document.vaultID
        let counter = try AttemptCounter(location, of: vaultID)
        var writer = try VaultWriter(location)
        let present = try VaultDocument(parsing: writer.read())
        guard VaultIdentity(present) == identity, present.vaultID == vaultID else {
            throw .changedMeanwhile
        }
        try counter.save(parcel.attempts)
        try location.write(besidesFileOf: parcel)
        try writer.save(
            parcel.document.bytes, of: vaultID, replacing: present.bytes, previous: .purged)
        if case .generationNotRecorded(let error)? = writer.write(parcel.record, isNew: true) {
            throw error
        }
        try writer.eraseAllButCurrent(of: vaultID)
    }

    /// Erases all generations of the vault at `path`, and the data that the program keeps about it.
    ///
    /// The record of the newest generation remains: it detects a copy that is restored later. Lock
    /// files remain, too, and so does the record of the enrolled secrets that were presented, which
    /// belongs to all vaults in the folder. If an earlier call was interrupted, this call completes
    /// it.
    ///
    /// - Parameter identity: the state of the file; nothing is erased if the file has a different
    ///   one.
    /// - Returns: the warnings to show to the owner.
    @discardableResult package static func purge(
        _ path: String, in identity: VaultIdentity
    ) throws(VaultError) -> [VaultReport] {
        let location = try VaultLocation(path)
        guard try VaultError.ifFound(location.openFolder()) != nil else { return [] }
        let counter = try AttemptCounter(location, of: identity.vaultID)
        var writer = try VaultWriter(location)
        if try writer.isTaken() {
            let document = try VaultDocument(parsing: writer.read())
            guard VaultIdentity(document) == identity else { throw .changedMeanwhile }
            _ = writer.writeGenerationRecord(of: document)
        }
        try writer.eraseAll(of: identity.vaultID)
        try counter.remove()
        return writer.linked.map { VaultReport($0) }
            + location.copiesNotErased(of: identity.vaultID, in: writer.folder)
    }
}

extension VaultParcel {
    /// Stores the device keys for the vault in this parcel with the other keys of this device.
    package func keepDeviceKeys(in store: DeviceKeyStore) throws(VaultError) {
        // Otherwise, a client could send parcels with more and more keys.
        let all = Set(deviceKeys.map(\.id)).union(store.ids(of: document.vaultID) ?? [])
        guard all.count <= VaultParcel.mostKeys else { throw .overLimit(.parcel) }
        for key in deviceKeys { try store.keep(key, of: document.vaultID) }
    }
}

extension DeviceKeyStore {
    /// Reads an open vault with the keys that its entries need.
    ///
    /// - Throws: ``VaultError/changedMeanwhile`` if another program may have bound an entry to a
    ///   further key; also the errors of ``Vault/pack(_:with:)``.
    package func pack(
        _ vault: UnlockedVault, with keys: [DeviceKey], at path: String
    ) throws(VaultError) -> VaultParcel {
        let parcel = try Vault.pack(path, with: keys)
        let state = vault.state
        guard
            (parcel.document.generation, parcel.document.changes)
                == (state.generation, state.changes) || homes(of: vault).isEmpty
        else { throw .changedMeanwhile }
        return parcel
    }

    /// Erases all device keys for a vault that has been moved away.
    package func eraseAll(of vault: VaultIdentity) throws(VaultError) {
        try erase(nil, of: vault.vaultID)
    }

    /// Erases these device keys for a vault.
    package func erase(_ ids: Set<DeviceID>, for vault: UnlockedVault) throws(VaultError) {
        try erase(ids, of: vault.key.vaultID)
    }
}

extension UnlockedVault {
    /// The keys of this device that are loaded.
    package func deviceKeys() throws(VaultError) -> [DeviceKey] {
        Array(try key.devices.keys().values)
    }
}

extension VaultParcel {
    /// The newest generation seen; this one if none was recorded.
    fileprivate var record: GenerationRecord {
        newest?.of(document.vaultID) ?? GenerationRecord(of: document)
    }
}

extension VaultLocation {
    /// Writes the record of last uses and the record of enrolled secrets that were presented.
    fileprivate func write(besidesFileOf parcel: VaultParcel) throws(VaultError) {
        write(uses: parcel.uses, of: parcel.document.vaultID)
        guard !parcel.presented.all.isEmpty else { return }
        try changePresented { $0.add(parcel.presented) }
    }
}

/// The exclusive right to move the vault at a path; the kernel releases it when the process dies.
package struct VaultMoveLock: ~Copyable, Sendable {
    private let lock: FileLock

    /// Takes the lock; creates the vault's folder if it does not exist.
    ///
    /// - Throws: ``VaultError/busy`` if another process moves the vault.
    package init(_ path: String) throws(VaultError) {
        let location = try VaultLocation(path)
        try location.requireUnreservedPath()
        try location.makeFolder()
        lock = try location.lock(
            VaultLocation.moveLock, in: location.makeStateFolder(), timeout: VaultWriter.timeout)
    }

    /// Releases the lock; so does `deinit`.
    package consuming func end() {}
}

/// The identity of one state of a vault file.
package struct VaultIdentity: Hashable, Sendable {
    private let record: GenerationRecord

    init(_ document: VaultDocument) { record = GenerationRecord(of: document) }

    var vaultID: [UInt8] { record.vaultID }

    fileprivate init(_ record: GenerationRecord) { self.record = record }

    /// Whether the two are states of the same vault.
    package func isSameVault(as other: VaultIdentity) -> Bool {
        record.vaultID == other.record.vaultID
    }

    /// Whether this is a state of the same vault, and earlier than `other`.
    package func isOlder(than other: VaultIdentity) -> Bool {
        isSameVault(as: other)
            && (record.generation, record.changes)
                < (other.record.generation, other.record.changes)
    }
}

extension VaultIdentity: Transferable {
    package func write(to output: FrameWriter) { output.append(record.text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let text = try fields.data(bytes, limit: GenerationRecord.sizeLimit)
        guard let record = GenerationRecord(reading: text) else { throw Unreadable() }
        self.init(record)
    }
}

extension Vault {
    /// The state of the vault in `file`.
    ///
    /// - Throws: the errors for a file that is not a complete vault.
    package static func identity(of file: [UInt8]) throws(VaultError) -> VaultIdentity {
        VaultIdentity(try VaultDocument(parsing: file))
    }

    /// The state of the vault at `path`.
    package static func identity(at path: String) throws(VaultError) -> VaultIdentity {
        VaultIdentity(try VaultDocument(parsing: VaultLocation(path).read()))
    }
}
