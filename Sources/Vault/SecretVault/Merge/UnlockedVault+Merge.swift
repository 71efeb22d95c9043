public import WatchwordCryptography
internal import WatchwordSystem

extension UnlockedVault {
    /// Opens another file of this vault with this vault's key; `nil` if that file has a different
    /// key.
    ///
    /// - Throws: ``VaultError/otherVault`` if it is a file of another vault.
    public func copy(at path: String) throws(VaultError) -> VaultCopy? {
        try copy(of: VaultLocation(path).read())
    }

    /// Opens another file of this vault, given as bytes, with this vault's key; `nil` if it has a
    /// different key.
    package func copy(of file: [UInt8]) throws(VaultError) -> VaultCopy? {
        let document = try VaultDocument(parsing: file)
        guard document.vaultID == key.vaultID else { throw .otherVault }
        return try state.verified(document, with: key).map { VaultCopy(state: $0, key: key) }
    }

    /// Opens another file of this vault, which has a different key, with its passphrase.
    ///
    /// A guess at the passphrase of a vault in use is counted there. Other failures are not
    /// counted, because the file can be copied.
    ///
    /// - Parameter vaults: the paths of vaults that are in use, besides those in the file's folder.
    public func copy(
        at path: String, passphrase: SecretBytes, ceiling: Int = Vault.defaultCeiling,
        among vaults: [String]
    ) throws(VaultError) -> VaultCopy {
        let document = try VaultDocument(parsing: VaultLocation(path).read())
        guard document.vaultID == key.vaultID else { throw .otherVault }
        let own = try Vault.path(sharingPassphraseWith: document, at: path, among: vaults)
        if let own { try Vault.confirm(passphrase, at: own, ceiling: ceiling) }
        let slot = try document.opened(with: .passphrase(passphrase), ceiling: ceiling)
        return VaultCopy(state: slot.state, key: slot.key.sharing(key.devices))
    }

    /// The warnings about an older or a diverged file, and about its key, that remain if `copy` is
    /// merged.
    ///
    /// If `copy` contains the last save made here, nothing is missing after the merge.
    private func alarms(merging copy: VaultCopy) throws(VaultError) -> [VaultReport] {
        let mark = try GenerationRecord.read(of: location, vaultID: state.vaultID)
        let isIncluded = mark?.isIncluded(in: copy.state) == true
        return reports.filter { $0.isAlarm && !(isIncluded && $0 == generationReport) }
    }

    /// A plan that shows the effects of ``merge(_:confirmed:comparing:now:)``.
    ///
    /// - Parameters:
    ///   - accepted: the entries of ``MergePlan/declinedWipes`` that the owner allows to be wiped.
    ///   - takesOld: whether the owner allows ``MergePlan/oldEdits`` to be merged.
    /// - Throws: ``VaultError/copyHasNewerKey``: this file can be merged into the other one
    ///   instead.
    public func planOfMerge(
        with copy: VaultCopy, accepting accepted: Set<RecordID> = [],
        takingOldEdits takesOld: Bool = false,
        comparing order: EnrolledOrder.Function, now: Int64
    ) throws(VaultError) -> MergePlan {
        guard copy.key.vaultID == key.vaultID else { throw .otherVault }
        let keys = try keyOrder(of: copy)
        guard keys != .newer else { throw .copyHasNewerKey }
        var declined: [RecordID] = []
        var oldEdits: [EntrySummary] = []
        var unmerged: [EntrySummary] = []
        var (toHome, toOwner): ([EntrySummary], [EntrySummary]) = ([], [])
        let changes = try rehearse(joining: copy.state.history) { changes throws(VaultError) in
            defer {
                (declined, oldEdits) = (changes.declinedWipes, changes.oldEdits)
                unmerged = changes.unmerged
                (toHome, toOwner) = (changes.leftToHome, changes.leftToOwner)
            }
            return try changes.merge(
                copy, accepting: accepted, takingOldEdits: takesOld, comparing: order, now: now)
        }
        let known = Set(state.slots.map(\.slot.head.publicKey))
        let outline = MergeOutline(
            changes: changes, isIncluded: state.history.includes(copy.state.history),
            declinedWipes: declined, unmerged: unmerged, leftToHome: toHome,
            leftToOwner: toOwner, oldEdits: oldEdits, takesOldEdits: takesOld, keys: keys,
            foreignSlots: copy.state.slots.map(\.slot)
                .filter { !known.contains($0.head.publicKey) }.map(SlotSummary.init),
            alarms: try alarms(merging: copy))
        return MergePlan(copy: copy, acceptedWipes: accepted, outline: outline)
    }

    /// Merges the entries of another file of this vault into this one, in one save.
    ///
    /// - Parameters:
    ///   - plan: the result of ``planOfMerge(with:accepting:takingOldEdits:comparing:now:)``, as
    ///     shown to the owner.
    ///   - confirmed: entries that require a check at each use, and whose checks for this change
    ///     have succeeded.
    /// - Throws: ``VaultError/busy`` if another process has changed the vault since the plan was
    ///   made; ``VaultError/presenceNeeded`` for an entry that is not among `confirmed`. In both
    ///   cases, nothing is changed.
    public func merge(
        _ plan: MergePlan, confirmed: Set<RecordID>, comparing order: EnrolledOrder.Function,
        now: Int64
    ) throws(VaultError) {
        try save(joining: plan.copy.state.history) { changes throws(VaultError) in
            try changes.merge(plan, confirmed: confirmed, comparing: order, now: now)
        }
    }

    /// Writes the result of a merge to the file at `path` instead of to the vault.
    ///
    /// The file must be an exact copy of this vault, which does not change.
    ///
    /// - Throws: ``VaultError/changedMeanwhile`` if the file is not such a copy;
    ///   ``VaultError/vanishedEntries`` if the merge wipes entries: the older copies of these must
    ///   be erased, which only a save of the vault does.
    public func merge(
        _ plan: MergePlan, confirmed: Set<RecordID>, into path: String,
        comparing order: EnrolledOrder.Function, now: Int64
    ) throws(VaultError) {
        let merged = try rehearse(joining: plan.copy.state.history) { changes throws(VaultError) in
            try changes.merge(plan, confirmed: confirmed, comparing: order, now: now)
            guard changes.wiped.isEmpty, !changes.erasesPrevious else { throw .vanishedEntries }
            return try changes.state.verifiedFile(with: changes.key).document.bytes
        }
        let target = try VaultLocation(path)
        guard FileStamp(of: path) != FileStamp(of: location.path(beside: location.name)) else {
            throw .alreadyExists
        }
        let current = try VaultDocument(parsing: location.read())
        guard try VaultState(verifying: current, with: key).history.newest == state.history.newest,
            try target.read() == current.bytes
        else { throw .changedMeanwhile }
        // Files beside `path` may be other vaults, so the new file first gets an unused name.
        do {
            try OutputFile.write(merged.span, to: path, replacing: true)
        } catch {
            guard case .system(let failure) = error else { throw .changedMeanwhile }
            throw .system(failure)
        }
    }
}

extension VaultChanges {
    /// Merges the copy as planned.
    fileprivate mutating func merge(
        _ plan: MergePlan, confirmed: Set<RecordID>, comparing order: EnrolledOrder.Function,
        now: Int64
    ) throws(VaultError) {
        let merged = try merge(
            plan.copy, accepting: plan.acceptedWipes, takingOldEdits: plan.takesOldEdits,
            comparing: order, now: now)
        guard merged == plan.changes else { throw .busy }
        guard merged.allSatisfy({ !$0.requiresCheck || confirmed.contains($0.id) }) else {
            throw .presenceNeeded
        }
    }
}

/// The effect of a merge on one entry.
public struct MergeChange: Hashable, Sendable {
    /// The kind of change to the entry.
    public enum Action: Hashable, Sendable {
        /// The entry was added in the other file.
        case added
        /// The entry had vanished from this file (``VaultReport/vanished(_:)``), and returns.
        case restored
        /// The entry had vanished, and returns with an older secret than the one that was lost.
        case restoredOlder(OlderSecret)
        /// The entry was removed in the other file.
        case removed
        /// These parts were edited in the other file, which has the newer edit.
        case replaced([EntryPart])
        /// Both files have an edit; this file has the newer one, and the other edit is dropped.
        case kept
        /// Both files have an edit, and it is not clear which is newer: the other content is added
        /// as an entry with this name.
        case keptBoth(copy: EntryNames)
        /// The secret of the entry was wiped in the other file.
        case wiped
        /// The other file has a greater counter or a newer enrolled secret.
        case advanced
        /// The enrolled secret was presented from both files. The server treats this as theft.
        case forked
    }

    /// The ID of the entry.
    public let id: RecordID
    /// The issuer of the entry after the merge.
    public let issuer: String
    /// The account of the entry after the merge.
    public let account: String
    /// The kind of change to the entry.
    public let action: Action
    /// Whether the entry requires a check at each use, and is removed or wiped, or changes in more
    /// than its details.
    public let requiresCheck: Bool
    /// Whether the key produces different codes after the merge, or may repeat the codes of an entry
    /// that was removed here, and the entry requires no check at each use.
    public internal(set) var changesCodesOfKey = false
}

extension MergeChange {
    /// A change for an entry that has vanished from this file, and whose secret is in the other
    /// file.
    ///
    /// - Parameters:
    ///   - record: the entry as it returns.
    ///   - lost: the entry without its secret; `nil` if the entry returns exactly as it was lost.
    init(restoring record: VaultState.Record, replacing lost: VaultState.Record? = nil) {
        let entry = record.summary
        var action = Action.restored
        var (requiresCheck, changesCodesOfKey) = (false, false)
        if let lost {
            // The copy has a newer edit, but its counter may be lower.
            let older = OlderSecret(in: record, replacing: lost)
            if older == .counter { action = .restoredOlder(.counter) }
            requiresCheck = lost.summary.requiresCheckPerUse
            // Anyone who can write to the vault's file can make an entry vanish.
            changesCodesOfKey = older != nil && record.hasKey(of: lost) && !requiresCheck
        }
        self.init(
            id: entry.id, issuer: entry.issuer, account: entry.account, action: action,
            requiresCheck: requiresCheck, changesCodesOfKey: changesCodesOfKey)
    }
}

/// The effects of a merge, and the file that it merges.
@dynamicMemberLookup public struct MergePlan: Sendable {
    /// The file that is merged.
    let copy: VaultCopy
    /// The entries that the owner allows to be wiped.
    let acceptedWipes: Set<RecordID>
    /// The effects, as shown to the owner.
    package let outline: MergeOutline

    /// Reads a property of the ``MergeOutline``.
    public subscript<Value>(dynamicMember path: KeyPath<MergeOutline, Value>) -> Value {
        outline[keyPath: path]
    }
}

/// The effects of a merge, as shown to the owner.
public struct MergeOutline: Hashable, Sendable {
    /// The changes to entries, in list order; entries that are not listed do not change.
    public let changes: [MergeChange]
    /// Whether this file already contains everything that was saved in the other file.
    public let isIncluded: Bool
    /// The entries whose wipe in the other file is not adopted unless the owner allows it.
    ///
    /// They were wiped there without the vault key, which anyone who can write that file can do, or
    /// before that file had seen an edit here that may have changed the key.
    public let declinedWipes: [RecordID]
    /// The entries of the other file that are not merged, because their secrets were wiped, there
    /// or here, without the vault key or before an edit on the other side that may have changed the
    /// key; or because of ``leftToHome`` or ``leftToOwner``.
    ///
    /// While such entries remain, the other file does not count as merged.
    public let unmerged: [EntrySummary]
    /// The unmerged entries that only one device can merge because it has to open the secret:
    /// either copy is bound to that device.
    public let leftToHome: [EntrySummary]
    /// The unmerged entries that are bound to a different device than in this file: the owner has
    /// to remove one of the two copies, or to end its binding.
    public let leftToOwner: [EntrySummary]
    /// The entries of the other file that differ here, and whose edits are older than the saves
    /// that this vault records: they may have been replaced or removed here since.
    public let oldEdits: [EntrySummary]
    /// Whether ``oldEdits`` are merged like other edits; if not, they count as replaced here.
    package let takesOldEdits: Bool
    /// Whether the other file's key is older than this vault's key; it is never newer.
    public let keys: VaultKeyOrder
    /// The slots that open only the other file; they are not added.
    public let foreignSlots: [SlotSummary]
    /// The warnings about the vault's file that remain after the merge.
    package let alarms: [VaultReport]

    /// The old edits that stay only in the other file.
    public var declinedOldEdits: [EntrySummary] { takesOldEdits ? [] : oldEdits }
    /// Whether the merge has nothing to save.
    public var isMerged: Bool { isIncluded && changes.isEmpty }
}

/// The order of two states of an enrolled secret.
///
/// The vault cannot interpret their bytes, so the caller provides the comparison.
public enum EnrolledOrder: Hashable, Sendable {
    /// The two states are the same.
    case same
    /// The first state is newer.
    case first
    /// The second state is newer.
    case second
    /// Both states were presented independently of each other: neither is newer.
    case forked
    /// The states belong to different enrolments, or one of them cannot be read.
    case unrelated

    /// A function that compares two states.
    public typealias Function = (SecretBytes, SecretBytes) -> EnrolledOrder
}

/// Another file of a vault, opened for a merge.
public struct VaultCopy: Sendable {
    let state: VaultState
    let key: VaultKey
}
