internal import WatchwordCryptography
internal import WatchwordSystem

/// The effect on one entry of undoing the last change.
public struct UndoneChange: Hashable, Sendable {
    /// The kind of change to the entry.
    public enum Action: Hashable, Sendable {
        /// The last change removed the entry; it returns.
        case restored
        /// The entry had vanished (``VaultReport/vanished(_:)``), and returns with an older secret.
        case restoredOlder(OlderSecret)
        /// The last change added the entry; it is removed.
        case removed
        /// These parts of the entry return to their former values.
        case changedBack([EntryPart])
        /// The last change enrolled the entry; it stays, because undoing does not sign a device
        /// out.
        case kept
        /// The secret, access control and binding of the entry stay, because it is or was bound to
        /// the device with this name, whose key is not here.
        case closed(device: String)
    }

    /// The ID of the entry.
    public let id: RecordID
    /// The issuer of the entry after undoing.
    public let issuer: String
    /// The account of the entry after undoing.
    public let account: String
    /// The issuer and account before undoing; `nil` if undoing does not change them.
    public let renamedFrom: EntryNames?
    /// The kind of change to the entry.
    public let action: Action
    /// Whether the entry requires a check at each use, and undoing removes it, changes more than
    /// its details, or restores an older secret.
    public let requiresCheck: Bool
    /// Whether the key produces different codes after undoing, and the entry requires no check at
    /// each use.
    public internal(set) var changesCodesOfKey = false

    /// Whether the entry only reports that its secret stays because this device cannot open it.
    public var isClosed: Bool { if case .closed = action { true } else { false } }
}

/// The part of a restored entry that may be older than when the entry vanished.
public enum OlderSecret: String, CaseIterable, Hashable, Sendable {
    /// The key, the secret or the parameters of the codes differ from those that were lost.
    case secret
    /// The key is the same, but the counter may be lower, so that codes repeat.
    case counter

    /// - Parameter found: the record that replaces `lost`; the result is `nil` if nothing in it is
    ///   older.
    init?(in found: VaultState.Record, replacing lost: VaultState.Record) {
        let (new, old) = (found.listed, lost.listed)
        if new.fingerprint != old.fingerprint || new.properties.traits != old.properties.traits {
            self = .secret
        } else if case .hotp = new.properties.traits {
            self = .counter
        } else {
            return nil
        }
    }
}

extension VaultChanges {
    /// Returns each entry to its state in `previous`, the generation that the last change replaced.
    ///
    /// Counters, enrolled secrets, wiped entries, and the ways to open the vault do not change;
    /// neither do the secret and access control of an entry that is or was bound to another device.
    ///
    /// A merge can be made again: its saves are removed from the history, and entries regain the
    /// times and saves of their former edits, so that the edits in the other file count as newer
    /// again.
    mutating func undo(to previous: VaultState, now: Int64) throws(VaultError) -> [UndoneChange] {
        let edits = UndoneEdits(of: self, to: previous, now: now)
        state.undoSave(to: previous.history, isMerge: edits.isMerge)
        let current = state
        var (undone, kept): ([UndoneChange], [UndoneChange]) = ([], [])
        var order: [RecordID] = []
        var hasVanished = false
        for old in previous.records {
            if let record = current.record(old.line.id) {
                order.append(old.line.id)
                let change = try changeBack(record, to: old, edited: edits.mark(ofChanged: old))
                if let change { undone.append(change) }
                if let binding = try closed(record, changedFrom: old) {
                    kept.append(UndoneChange(of: old, .closed(device: binding.name)))
                }
            } else if old.isWipedWithoutKey {
                // The entry was not wiped with the key, so it must not return as a wiped entry.
                hasVanished = true
            } else {
                order.append(old.line.id)
                state.append(restored(old, edited: edits.mark(ofRemoved: old)))
                undone.append(UndoneChange(of: old, .restored))
            }
        }
        for record in current.records where previous.record(record.line.id) == nil {
            let isKept = record.summary.kind == .enrolled
            if isKept { order.append(record.line.id) }
            undone.append(UndoneChange(of: record, isKept ? .kept : .removed))
        }
        guard order.count <= VaultLimits.entries else { throw .overLimit(.entries) }
        guard undone.contains(where: { $0.action != .kept }) else {
            guard kept.isEmpty else { return kept }
            if hasVanished { throw .nothingToUndo(.vanished) }
            throw .nothingToUndo(
                undone.isEmpty ? .noChange(from: previous, to: current) : .enrolment)
        }
        try state.arrange(order)
        invalidateFingerprintIndex()
        isChanged = true
        return kept + undone
    }

    /// Restores the entries that were wiped without the vault key, and not because of failures.
    ///
    /// If `previous` has only an older secret of an entry, everything else stays as it is, and the
    /// stricter access control applies.
    mutating func restoreVanished(
        from previous: VaultState, now: Int64
    ) throws(VaultError) -> [UndoneChange] {
        var undone: [UndoneChange] = []
        for record in state.records where record.isWipedWithoutKey {
            guard let old = previous.record(record.line.id), old.isSealed,
                let change = try restoreVanished(record, from: old, now: now)
            else { continue }
            undone.append(change)
        }
        guard !undone.allSatisfy(\.isClosed) else { throw .nothingToUndo(.vanished) }
        invalidateFingerprintIndex()
        isChanged = true
        return undone
    }

    // Not inlined: if it is, the optimiser of Swift 6.3.1 crashes on the loop above.
    @inline(never) private mutating func restoreVanished(
        _ record: VaultState.Record, from old: VaultState.Record, now: Int64
    ) throws(VaultError) -> UndoneChange? {
        if let found = record.restored(from: old) {
            try state.replace(found)
            return UndoneChange(of: found, .restored)
        }
        if let binding = try closed(record, old) {
            return UndoneChange(of: record, .closed(device: binding.name))
        }
        // Restore an older secret rather than none.
        let found = try restored(record, withOlderSecretOf: old, now: now)
        try state.replace(found)
        let older = OlderSecret(in: found, replacing: record)
        var change = UndoneChange(
            of: found, older.map(UndoneChange.Action.restoredOlder) ?? .restored,
            requiresCheck: record.summary.requiresCheckPerUse)
        // Anyone who can write to the file can make an entry vanish, and replace `previous`.
        change.changesCodesOfKey =
            older != nil && found.hasKey(of: record) && !change.requiresCheck
        return change
    }

    /// The binding of one of the two records to a device whose key is not here; `nil` if this
    /// device can open and seal both secrets.
    private func closed(
        _ record: VaultState.Record, _ other: VaultState.Record
    ) throws(VaultError) -> RecordBinding? {
        let keys = try key.devices.keys()
        return [record, other].compactMap(\.listed.binding).first { keys[$0.device] == nil }
    }

    /// The binding to a device whose key is not here, if the last change to the secret, access
    /// control or binding was more than the advance of a counter or an enrolled secret; otherwise
    /// `nil`.
    private func closed(
        _ record: VaultState.Record, changedFrom old: VaultState.Record
    ) throws(VaultError) -> RecordBinding? {
        guard record.isSealed, old.isSealed, record.line != old.line,
            let binding = try closed(record, old)
        else { return nil }
        if record.device == old.device {
            let former = try MergedEntry(old, with: key)
            guard try !MergedEntry(record, with: key).isCounted(like: former) else { return nil }
        }
        return binding
    }

    /// Restores a removed record; its failures still count, because it is not resealed.
    private func restored(_ old: VaultState.Record, edited: EntryEdit) -> VaultState.Record {
        var listed = old.listed
        listed.properties.edited = edited
        return VaultState.Record(line: old.line, listed: listed, body: old.body)
    }

    private func restored(
        _ record: VaultState.Record, withOlderSecretOf old: VaultState.Record, now: Int64
    ) throws(VaultError) -> VaultState.Record {
        let line = RecordLine(
            id: record.line.id, revision: state.generation,
            accessControl: record.line.accessControl.stricter(than: old.line.accessControl))
        var properties = record.listed.properties
        properties.edited = edit(at: now)
        // The parameters of the codes belong to the key, and the kind of code to the secret.
        let (traits, former) = (properties.traits, old.listed.properties.traits)
        if old.listed.fingerprint != record.listed.fingerprint || traits.kind != former.kind {
            properties.traits = former
        }
        return try .sealing(
            old.opened(with: key), as: line, properties, to: record.device ?? old.device,
            under: key)
    }

    private mutating func changeBack(
        _ record: VaultState.Record, to old: VaultState.Record, edited: EntryEdit
    ) throws(VaultError) -> UndoneChange? {
        let former = old.listed.properties
        var properties = record.listed.properties
        var parts: [EntryPart] = []
        var names: EntryNames?
        if (properties.issuer, properties.account) != (former.issuer, former.account) {
            parts.append(.name)
            names = EntryNames(issuer: properties.issuer, account: properties.account)
            (properties.issuer, properties.account) = (former.issuer, former.account)
        }
        if properties.details != former.details {
            parts.append(.details)
            properties.details = former.details
        }
        // Only the device itself can change the secrets that are bound to it.
        let areOpen = try closed(record, old) == nil
        let payload = areOpen ? try formerPayload(of: record, in: old) : nil
        if payload != nil {
            parts.append(.secret)
            properties.traits = former.traits
        }
        if record.isSealed, areOpen,
            (record.line.accessControl, record.device) != (old.line.accessControl, old.device)
        {
            parts.append(.accessControl)
        }
        guard !parts.isEmpty else { return nil }
        properties.edited = edited
        if parts.contains(.secret) || parts.contains(.accessControl) {
            let line = RecordLine(
                id: record.line.id, revision: state.generation,
                accessControl: old.line.accessControl)
            let content: RecordPayload
            if let payload { content = payload } else { content = try record.opened(with: key) }
            try state.replace(
                .sealing(content, as: line, properties, to: old.device, under: key))
        } else {
            try state.change(record.line.id) { $0 = properties }
        }
        let requiresCheck = record.summary.requiresCheckPerUse
        return UndoneChange(
            id: record.line.id, issuer: properties.issuer, account: properties.account,
            renamedFrom: names, action: .changedBack(parts),
            requiresCheck: parts != [.details] && requiresCheck,
            changesCodesOfKey: parts.contains(.secret) && record.hasKey(of: old) && !requiresCheck)
    }

    /// The content of `record` before the last change; `nil` if it is the same or must not be
    /// restored.
    private func formerPayload(of record: VaultState.Record, in old: VaultState.Record)
        throws(VaultError) -> RecordPayload?
    {
        guard case .sealed(let box) = record.body, case .sealed(let oldBox) = old.body,
            !box.elementsEqual(oldBox)
        else { return nil }
        let (traits, formerTraits) = (record.listed.properties.traits, old.listed.properties.traits)
        // Only responses of the server change an enrolled secret.
        if traits == .enrolled, formerTraits == .enrolled { return nil }
        let present = try record.opened(with: key)
        let former = try old.opened(with: key).notBehind(present)
        let isSame = try former.isExactly(present)
        return isSame && traits == formerTraits ? nil : former
    }
}

/// The edits to record in a save that undoes another save.
private struct UndoneEdits {
    private let edit: EntryEdit
    let isMerge: Bool
    /// Whether the merge kept both copies of an entry.
    private let keptBoth: Bool

    init(of changes: VaultChanges, to previous: VaultState, now: Int64) {
        edit = changes.edit(at: now)
        let former = changes.formerHistory
        isMerge = !previous.history.containsAll(of: former.withoutMarks().dropFirst())
        keptBoth = changes.state.records.contains { record in
            record.listed.properties.edited.save == former.newest.id
                && previous.record(record.line.id) == nil
        }
    }

    func mark(ofRemoved old: VaultState.Record) -> EntryEdit {
        isMerge ? old.listed.properties.edited : edit
    }

    // After a merge that kept both copies, the edit recorded here must look independent of the
    // merge: otherwise, merging a file that contains the merge would drop this edit.
    func mark(ofChanged old: VaultState.Record) -> EntryEdit {
        let former = old.listed.properties.edited
        guard isMerge, keptBoth else { return isMerge ? former : edit }
        return EntryEdit(time: former.time, save: edit.save)
    }
}

extension UndoneChange {
    fileprivate init(
        of record: VaultState.Record, _ action: Action, requiresCheck: Bool = false
    ) {
        let entry = record.summary
        self.init(
            id: entry.id, issuer: entry.issuer, account: entry.account, renamedFrom: nil,
            action: action,
            requiresCheck: requiresCheck || action == .removed && entry.requiresCheckPerUse)
    }
}

extension NothingToUndo {
    /// The reason why two states have no difference that can be undone.
    fileprivate static func noChange(from previous: VaultState, to current: VaultState) -> Self {
        let isAdvanced = current.records.contains { record in
            previous.record(record.line.id)?.line.revision != record.line.revision
        }
        return isAdvanced ? .onlyAdvanced : .noEntry
    }
}

extension UnlockedVault {
    /// The plan of ``undo(_:confirmed:now:)``, to be shown to the owner.
    ///
    /// The undo itself throws ``NothingToUndo/closed`` if every change in the plan is closed
    /// (``UndoneChange/isClosed``).
    ///
    /// - Throws: ``VaultError/nothingToUndo(_:)``; the errors of reading the previous generation.
    public func planOfUndo(now: Int64) throws(VaultError) -> [UndoneChange] {
        try rehearse { changes throws(VaultError) in try undo(&changes, now: now) }
    }

    /// Undoes the last change: saves a new generation with the entries of the previous one.
    ///
    /// Counters, enrolled secrets, wiped entries and the ways to open the vault stay as they are.
    /// Undoing again brings the change back.
    ///
    /// If entries have vanished (``VaultReport/vanished(_:)``), undoing restores them and changes
    /// nothing else.
    ///
    /// - Parameters:
    ///   - plan: the result of ``planOfUndo(now:)``, as shown to the owner.
    ///   - confirmed: entries that require a check at each use, and whose checks for this change
    ///     have succeeded.
    /// - Throws: ``VaultError/busy`` if another process has changed the vault since the plan was
    ///   made; ``VaultError/presenceNeeded`` for an entry that is not among `confirmed`. In both
    ///   cases, nothing is changed.
    public func undo(_ plan: [UndoneChange], confirmed: Set<RecordID>, now: Int64)
        throws(VaultError)
    {
        try update { changes throws(VaultError) in
            let undone = try undo(&changes, now: now)
            guard undone == plan else { throw .busy }
            guard !undone.allSatisfy(\.isClosed) else { throw .nothingToUndo(.closed) }
            guard undone.allSatisfy({ !$0.requiresCheck || confirmed.contains($0.id) }) else {
                throw .presenceNeeded
            }
        }
    }

    private func undo(
        _ changes: inout VaultChanges, now: Int64
    ) throws(VaultError) -> [UndoneChange] {
        let previous = try previousState(of: changes)
        if changes.state.hasUnlistedTombstones {
            return try changes.restoreVanished(from: previous, now: now)
        }
        guard changes.formerHistory.replaced == previous.history.newest else {
            throw .nothingToUndo(.notPredecessor)
        }
        return try changes.undo(to: previous, now: now)
    }

    private func previousState(of changes: VaultChanges) throws(VaultError) -> VaultState {
        guard let bytes = try location.previousGeneration(upTo: largestFile) else {
            throw .nothingToUndo(.noPrevious)
        }
        let document = try VaultDocument(parsing: bytes)
        guard document.vaultID == key.vaultID else { throw .nothingToUndo(.notPredecessor) }
        guard let previous = try changes.state.verified(document, with: changes.key) else {
            throw .nothingToUndo(.rekeyed)
        }
        return previous
    }
}
