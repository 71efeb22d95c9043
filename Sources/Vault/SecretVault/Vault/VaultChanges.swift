internal import OneTimePassword
internal import WatchwordCryptography
public import WatchwordSystem

/// The changes of one save; see ``UnlockedVault/update(_:)``.
public struct VaultChanges {
    var state: VaultState
    private(set) var key: VaultKey
    /// The history of the file that is replaced.
    let formerHistory: VaultHistory
    /// Whether unlocking proved presence; if not, this save must not change the slots.
    var provesPresence = true
    /// Whether the previous generation must be kept, because it has changes that the vault lacks.
    var keepsPrevious = false
    var isChanged = false
    var erasesPrevious = false
    /// Records that this save wipes, while the previous generation must be kept.
    private(set) var wiped: Set<RecordID> = []
    /// The entries that were wiped in a merged copy without the vault key, and that the merge did
    /// not wipe here.
    var declinedWipes: [RecordID] = []
    /// The entries of a merged copy that this save does not adopt, because their secrets were wiped
    /// without the vault key, or because they are in one of the next two lists.
    var unmerged: [EntrySummary] = []
    /// The unmerged entries that only the device to which the secret is bound can merge.
    var leftToHome: [EntrySummary] = []
    /// The unmerged entries that are bound to a different device than in this vault.
    var leftToOwner: [EntrySummary] = []
    /// The entries of a merged copy whose edits the history may have dropped.
    var oldEdits: [EntrySummary] = []
    /// The changes for entries that had vanished and that a merge has restored.
    var restored: [MergeChange] = []
    private var holders: FingerprintIndex?
    /// The entries whose secret the caller has entered or opened with a check, although each use
    /// requires a check.
    private var known: Set<RecordID> = []

    init(
        _ current: VaultState, key: VaultKey, after mark: GenerationRecord?,
        joining other: VaultHistory? = nil, listing wiped: Set<RecordID> = []
    ) throws(VaultError) {
        self.key = key
        formerHistory = current.history
        state = try current.next(after: mark, joining: other, listing: wiped)
    }

    /// Forces a save, even if only the manifest changes.
    mutating func saveInAnyCase() { isChanged = true }

    /// The current entries, in list order.
    public var entries: [EntrySummary] {
        let homes = key.devices.homes
        return state.records.map { $0.summary(proving: [], at: homes) }
    }

    /// The current state of the entry `id`; throws ``VaultError/noSuchEntry``.
    public func entry(_ id: RecordID) throws(VaultError) -> EntrySummary {
        state.records[try state.index(of: id)].summary(proving: [], at: key.devices.homes)
    }

    /// Opens an entry in its current state, for a change that depends on its content.
    ///
    /// Check presence before the change begins: other processes wait for the vault in the meantime.
    ///
    /// - Throws: ``VaultError/noSuchEntry``, ``VaultError/wiped``, ``VaultError/damaged(_:)``,
    ///   ``VaultError/boundElsewhere``, ``VaultError/deviceKey(_:)``.
    public func content(of id: RecordID) throws(VaultError) -> EntryContent {
        try state.records[try state.index(of: id)].content(with: key)
    }

    /// Lets ``entries(withSecretOf:)`` find these entries, for which the required checks have
    /// succeeded.
    package mutating func findChecked(_ ids: Set<RecordID>) {
        known.formUnion(ids)
        invalidateFingerprintIndex()
    }

    /// The entries with the same secret as `content`, whatever their names.
    ///
    /// The result is in list order, without wiped entries and without entries bound to a device
    /// whose key is not here. No secret is opened. An entry that requires a check at each use is
    /// not found, because the result would reveal whether a guess is right. Such an entry is found
    /// only if this save set its secret, or after ``findChecked(_:)``.
    public mutating func entries(withSecretOf content: EntryContent) throws(VaultError)
        -> [RecordID]
    {
        let payload = content.payload
        var fingerprints = [try key.fingerprint(of: payload)]
        for device in try key.devices.keys().values {
            fingerprints.append(device.fingerprint(of: payload, in: key.vaultID))
        }
        // The index is built on first use: most changes never need it.
        if holders == nil {
            holders = FingerprintIndex(state.records) { [known] in
                !$0.accessControl.presence.isPerUse || known.contains($0.id)
            }
        }
        let found = fingerprints.flatMap { holders?.ids(of: $0) ?? [] }
        return found.sorted { state.lists($0, before: $1) }
    }

    /// The entries that produce the same codes as `content`: the same secret with the same
    /// parameters.
    ///
    /// Names and counters may differ. The same secret with a different hash function, length or
    /// time step is a different entry.
    public mutating func entries(equivalentTo content: EntryContent) throws(VaultError)
        -> [RecordID]
    {
        var equivalent: [RecordID] = []
        for id in try entries(withSecretOf: content) {
            let record = state.records[try state.index(of: id)]
            if record.listed.properties.traits == content.traits { equivalent.append(id) }
        }
        return equivalent
    }

    /// Adds an entry at the end.
    ///
    /// - Parameters:
    ///   - device: the device to bind it to, whose key was loaded.
    ///   - now: Unix seconds, stored as the time when it was added.
    /// - Throws: ``VaultError/overLimit(_:)``, ``VaultError/spaceAroundName``,
    ///   ``VaultError/invalidTag``.
    @discardableResult public mutating func add(
        _ content: EntryContent, details: EntryDetails = EntryDetails(),
        accessControl: AccessControl? = nil, boundTo device: DeviceID? = nil, now: Int64
    ) throws(VaultError) -> RecordID {
        guard state.records.count < VaultLimits.entries else { throw .overLimit(.entries) }
        let bytes = Randomness.bytes(count: RecordID.count)
        let id = RecordID(bytes.span)
        let line = RecordLine(
            id: id, revision: state.generation,
            accessControl: accessControl ?? .standard(for: content.kind))
        try details.check()
        let edit = edit(at: now)
        let properties = EntryProperties(
            of: content, details: details, created: edit.time, edited: edit)
        let record = try seal(content, as: line, properties, to: device)
        state.append(record)
        known.insert(id)
        holders?.add(id, holding: record.listed.fingerprint)
        isChanged = true
        return id
    }

    /// Replaces an entry's content, including its name, which is an edit; keeps everything else.
    ///
    /// - Throws: ``VaultError/wiped`` for an entry that was wiped.
    public mutating func replace(
        _ id: RecordID, with content: EntryContent, now: Int64 = SystemClock.unixTime()
    ) throws(VaultError) {
        try replace(id, with: content, edited: edit(at: now))
    }

    /// Replaces an entry's content with a later state of it, which is not an edit: an incremented
    /// counter, or the next secret from the server that enrolled the device.
    ///
    /// - Throws: ``VaultError/wiped`` for an entry that was wiped.
    public mutating func advance(_ id: RecordID, to content: EntryContent) throws(VaultError) {
        try replace(id, with: content, edited: nil)
    }

    private mutating func replace(
        _ id: RecordID, with content: EntryContent, edited: EntryEdit?
    ) throws(VaultError) {
        let old = state.records[try state.index(of: id)]
        guard case .sealed = old.body else { throw .wiped }
        let line = old.line.sealed(in: state.generation)
        let former = old.listed.properties
        let properties = EntryProperties(
            of: content, details: former.details, created: former.created,
            edited: edited ?? former.edited)
        let record = try seal(content, as: line, properties, to: old.device)
        try state.replace(record)
        isChanged = true
        holders?.remove(id, holding: old.listed.fingerprint)
        // If an entry only advances, the caller has not entered its secret.
        if edited != nil { known.insert(id) }
        guard !line.accessControl.presence.isPerUse || known.contains(id) else { return }
        let state = state
        holders?.insert(id, holding: record.listed.fingerprint) { other in
            state.lists(other, before: id)
        }
    }

    /// Renames an entry without opening its secret.
    public mutating func rename(
        _ id: RecordID, issuer: String, account: String, now: Int64 = SystemClock.unixTime()
    ) throws(VaultError) {
        try VaultChanges.checkName(issuer, account)
        let edit = edit(at: now)
        try state.change(id) { properties in
            properties.issuer = issuer
            properties.account = account
            properties.edited = edit
        }
        isChanged = true
    }

    /// Replaces the details of an entry without opening its secret.
    ///
    /// - Throws: ``VaultError/overLimit(_:)``, ``VaultError/invalidTag``.
    public mutating func setDetails(
        of id: RecordID, to details: EntryDetails, now: Int64 = SystemClock.unixTime()
    ) throws(VaultError) {
        try details.check()
        let edit = edit(at: now)
        try state.change(id) { properties in
            properties.details = details
            properties.edited = edit
        }
        isChanged = true
    }

    /// Removes an entry, or the remains of a wiped entry.
    ///
    /// - Parameter purge: whether to erase the previous generation, which still contains the entry.
    public mutating func remove(_ id: RecordID, purge: Bool) throws(VaultError) {
        let old = state.records[try state.index(of: id)]
        try state.remove(id)
        holders?.remove(id, holding: old.listed.fingerprint)
        isChanged = true
        if purge { erasesPrevious = true }
    }

    /// Removes an entry, and erases its older copies.
    public mutating func erase(_ id: RecordID) throws(VaultError) {
        try remove(id, purge: false)
        eraseCopies(of: id)
    }

    /// Gives the vault a new key: reseals every record, and seals the new key to each slot.
    ///
    /// The same passphrases and recovery keys open the vault as before. Access to an older file
    /// does not help to open anything that is saved from now on. The previous generation is erased,
    /// because the old key opens it. Revisions and the failures counted against entries do not
    /// change.
    public mutating func rekey() throws(VaultError) {
        let new = VaultKey.make(of: state.vaultID).sharing(key.devices)
        state = try state.rekeyed(from: key, to: new)
        key = new
        invalidateFingerprintIndex()
        isChanged = true
        erasesPrevious = true
    }

    /// Drops the fingerprint index; call this when secrets are removed or fingerprints change.
    mutating func invalidateFingerprintIndex() { holders = nil }

    /// The edit to record for a change in this save.
    func edit(at now: Int64) -> EntryEdit {
        EntryEdit(time: max(now, 0), save: state.history.newest.id)
    }

    private func seal(
        _ content: EntryContent, as line: RecordLine, _ properties: EntryProperties,
        to device: DeviceID?
    ) throws(VaultError) -> VaultState.Record {
        try VaultChanges.checkName(content.issuer, content.account)
        return try .sealing(content.payload, as: line, properties, to: device, under: key)
    }

    private static func checkName(_ issuer: String, _ account: String) throws(VaultError) {
        guard max(issuer.utf8.count, account.utf8.count) <= VaultLimits.nameSize else {
            throw .overLimit(.name)
        }
        guard !issuer.hasSpaceAround, !account.hasSpaceAround else { throw .spaceAroundName }
    }
}

extension VaultChanges {
    /// Replaces an entry's secret with a tombstone, and erases the previous generation.
    ///
    /// An entry that was already wiped keeps its tombstone.
    ///
    /// - Parameter now: Unix seconds, stored as the time of the wipe.
    public mutating func wipe(
        _ id: RecordID, because reason: Tombstone.Reason, now: Int64
    ) throws(VaultError) {
        let record = state.records[try state.index(of: id)]
        guard case .sealed = record.body else { return }
        let tombstone = Tombstone(time: max(now, 0), reason: reason)
        var listed = record.listed
        listed.secret = .wiped(tombstone)
        try state.replace(
            VaultState.Record(line: record.line, listed: listed, body: .tombstone(tombstone)))
        invalidateFingerprintIndex()
        isChanged = true
        eraseCopies(of: id)
    }

    /// Erases the older copies of a record: the whole previous generation, unless it may have the
    /// only copy of an entry that has vanished, or of changes that the vault lacks.
    mutating func eraseCopies(of id: RecordID) {
        if state.hasUnlistedTombstones || keepsPrevious {
            wiped.insert(id)
        } else {
            erasesPrevious = true
        }
    }
}

extension VaultChanges {
    /// Changes the presence check that the entry requires, and the consequence of failed checks.
    ///
    /// The secret is resealed, because its box is bound to the unencrypted part of the record.
    ///
    /// - Throws: ``VaultError/noSuchEntry``, ``VaultError/wiped``.
    public mutating func setAccessControl(
        of id: RecordID, to accessControl: AccessControl, now: Int64 = SystemClock.unixTime()
    ) throws(VaultError) {
        let old = state.records[try state.index(of: id)]
        let line = RecordLine(
            id: id, revision: state.generation, accessControl: accessControl)
        try reseal(old, as: line, to: old.device, now: now)
    }
}

// Advances the counters of HOTP entries, which never decrease.
extension VaultChanges {
    /// Increments the counter of an HOTP entry.
    ///
    /// - Returns: the entry as it was, with the counter that is now spent.
    public mutating func advanceCounter(of id: RecordID) throws(VaultError) -> EntryContent {
        let content = try content(of: id)
        guard case .oneTimePassword(let credential) = content,
            case .counter(let counter) = credential.movingFactor
        else { throw .otherKind }
        guard counter < .max else { throw .counterExhausted }
        try advance(id, to: .oneTimePassword(credential.moved(to: counter + 1)))
        return content
    }

    /// Raises the counter of an HOTP entry; a lower value changes nothing.
    public mutating func raiseCounter(of id: RecordID, to counter: UInt64) throws(VaultError) {
        guard case .oneTimePassword(let credential) = try content(of: id),
            case .counter(let reached) = credential.movingFactor
        else { throw .otherKind }
        guard counter > reached else { return }
        try advance(id, to: .oneTimePassword(credential.moved(to: counter)))
    }

    /// Returns `content`, ready to replace the entry `id`.
    ///
    /// If both are HOTP with the same secret, the result has the greater of the two counters.
    ///
    /// A lower counter would repeat codes that were already issued.
    public func content(_ content: EntryContent, notBehind id: RecordID)
        throws(VaultError) -> EntryContent
    {
        guard case .oneTimePassword(let credential) = content,
            case .counter(let given) = credential.movingFactor
        else { return content }
        let record = state.records[try state.index(of: id)]
        let fingerprint = try key.fingerprint(of: content.payload, for: record.device)
        guard record.listed.fingerprint == fingerprint,
            case .oneTimePassword(let old) = try self.content(of: id),
            case .counter(let reached) = old.movingFactor, reached > given
        else { return content }
        return .oneTimePassword(credential.moved(to: reached))
    }
}
