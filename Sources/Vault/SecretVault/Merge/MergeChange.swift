public import WatchwordCryptography

/// What a merge does to one entry.
public struct MergeChange: Hashable, Sendable {
    /// What happens to the entry.
    public enum Action: Hashable, Sendable {
        /// It was added in the other file.
        case added
        /// It had vanished from this file (``VaultReport/vanished(_:)``), and returns.
        case restored
        /// The same, but with an older secret than the one that was lost.
        case restoredOlder(OlderSecret)
        /// It was removed in the other file.
        case removed
        /// These parts were edited in the other file, which has the newer edit.
        case replaced([EntryPart])
        /// Both files have an edit; this one has the newer edit, and the other one is dropped.
        case kept
        /// Both files have an edit, and it is not clear which is newer: the other content is added
        /// as an entry with this name.
        case keptBoth(copy: EntryNames)
        /// Its secret was wiped in the other file.
        case wiped
        /// Its counter is greater, or its enrolled secret is newer, in the other file.
        case advanced
        /// Its enrolled secret was presented from both files. The server treats this as theft.
        case forked
    }

    /// The entry.
    public let id: RecordID
    /// Its issuer, after the merge.
    public let issuer: String
    /// Its account, after the merge.
    public let account: String
    /// What happens to it.
    public let action: Action
    /// Whether the entry requires a check at each use, and is removed or wiped, or changes in more
    /// than its details.
    public let requiresCheck: Bool
}

extension MergeChange {
    /// The entry has vanished from this file, and the other one has its secret.
    ///
    /// - Parameters:
    ///   - record: the entry as it returns.
    ///   - lost: the entry as it was until now; `nil` if it returns exactly as it was lost.
    init(restoring record: VaultState.Record, replacing lost: VaultState.Record? = nil) {
        let entry = record.summary
        var action = Action.restored
        var requiresCheck = false
        if let lost {
            // The copy has a newer edit, but its counter may be lower.
            let older = OlderSecret(in: record, replacing: lost)
            if older == .counter { action = .restoredOlder(.counter) }
            requiresCheck = lost.summary.requiresCheckPerUse
        }
        self.init(
            id: entry.id, issuer: entry.issuer, account: entry.account, action: action,
            requiresCheck: requiresCheck)
    }
}

/// What a merge does.
public struct MergePlan: Sendable {
    /// The other file.
    let copy: VaultCopy
    /// What happens to the entries, in list order; entries that are not listed do not change.
    public let changes: [MergeChange]
    /// Whether this file already contains everything that was saved in the other one.
    public let isIncluded: Bool
    /// The entries that were wiped in the other file without the vault key, which anybody who can
    /// write it can do, or before that file had seen an edit here that may have changed the key; they
    /// are kept unless the owner accepts that they are wiped.
    public let declinedWipes: [RecordID]
    /// The entries of the other file that are not merged, because their secrets were wiped, there or
    /// here, without the vault key or before an edit on the other side that may have changed the key.
    ///
    /// If there are any, the other file does not count as merged.
    public let unmerged: [EntrySummary]
    /// The entries that the owner accepts to be wiped.
    let acceptedWipes: Set<RecordID>
    /// The entries of the other file that differ here, and whose edits are older than the saves that
    /// this vault records: they may have been replaced or removed here since.
    public let oldEdits: [EntrySummary]
    /// Whether such edits are merged like others; if not, they count as replaced here.
    let takesOldEdits: Bool
    /// Whether the other file's key is older than this vault's; it is never newer.
    public let keys: VaultKeyOrder
    /// The slots that open only the other file; they are not added.
    public let foreignSlots: [SlotSummary]

    /// Those of them that stay in the other file only.
    public var declinedOldEdits: [EntrySummary] { takesOldEdits ? [] : oldEdits }
    /// Whether there is nothing to save.
    public var isMerged: Bool { isIncluded && changes.isEmpty }
}

/// Which of two states of an enrolled secret is newer; the vault cannot interpret their bytes.
public enum EnrolledOrder: Hashable, Sendable {
    /// They are the same.
    case same
    /// The first one is newer.
    case first
    /// The second one is newer.
    case second
    /// Each was presented independently of the other: neither is newer.
    case forked
    /// They belong to different enrolments, or one of them cannot be read.
    case unrelated

    /// Compares two states.
    public typealias Function = (SecretBytes, SecretBytes) -> EnrolledOrder
}

/// Another file of a vault, opened for a merge.
public struct VaultCopy: Sendable {
    let state: VaultState
    let key: VaultKey
}
