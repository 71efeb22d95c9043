internal import WatchwordCryptography

/// The decision of a merge about one entry, based on the last edits of its two copies.
struct MergeVerdict: Hashable {
    /// One of the two files.
    enum Side: Hashable {
        case ours, theirs

        var other: Side { self == .ours ? .theirs : .ours }
    }

    enum Result: Hashable {
        /// This side's copy is the result: it is the same, or newer, or the only one.
        case one(Side)
        /// It is not clear which copy is newer. Both stay; the copy of this side keeps the ID.
        case both(original: Side)
        /// The other side had seen the last edit of the entry, and removed the entry.
        case removed

        /// The side whose copy keeps the ID; `nil` if the entry is removed.
        var kept: Side? {
            switch self {
            case .one(let side), .both(original: let side): side
            case .removed: nil
            }
        }
    }

    let result: Result
    /// Whether both copies were edited, and neither side had seen the other's edit.
    let isIndependent: Bool
}

/// The histories of both files, on which the verdict about each entry depends.
struct MergeHistories {
    private let ours: Set<SaveID>
    private let theirs: Set<SaveID>
    private let now: Int64

    /// Times that differ by less than this many seconds do not show which edit is newer.
    private static let clockTolerance: Int64 = 2

    /// - Parameters:
    ///   - dropped: saves that our history is assumed to have contained.
    ///   - now: Unix seconds; a later edit was made with a wrong clock.
    init(
        ours: VaultHistory, dropping dropped: Set<SaveID> = [], theirs: VaultHistory, now: Int64
    ) {
        self.ours = Set(ours.saves.map(\.id)).union(dropped)
        self.theirs = Set(theirs.saves.map(\.id))
        self.now = now
    }

    /// The verdict for an entry whose copies have these last edits; `nil` stands for no copy.
    ///
    /// The verdict is symmetrical: exchanging the two sides exchanges `ours` and `theirs` in the
    /// result.
    ///
    /// - Parameter areEqual: whether the two copies have the same content.
    func verdict(_ our: EntryEdit?, _ their: EntryEdit?, areEqual: Bool) -> MergeVerdict {
        switch (our, their) {
        case (let our?, let their?): return verdict(our, their, areEqual: areEqual)
        case (let our?, nil): return alone(.ours, isSeen: theirs.contains(our.save))
        case (nil, let their?): return alone(.theirs, isSeen: ours.contains(their.save))
        case (nil, nil): return alone(.ours, isSeen: true)
        }
    }

    private func alone(_ side: MergeVerdict.Side, isSeen: Bool) -> MergeVerdict {
        MergeVerdict(result: isSeen ? .removed : .one(side), isIndependent: false)
    }

    private func verdict(_ our: EntryEdit, _ their: EntryEdit, areEqual: Bool) -> MergeVerdict {
        if our.save == their.save { return MergeVerdict(result: .one(.ours), isIndependent: false) }
        let (isOurSeen, isTheirSeen) = (theirs.contains(our.save), ours.contains(their.save))
        if isOurSeen != isTheirSeen {
            return MergeVerdict(result: .one(isOurSeen ? .theirs : .ours), isIndependent: false)
        }
        // The order must not depend on which side merges.
        let later: MergeVerdict.Side =
            (our.time, our.save.order) > (their.time, their.save.order) ? .ours : .theirs
        // A hostile file can contain any time.
        let latest = max(our.time, their.time)
        let (apart, isBeyond) = latest.subtractingReportingOverflow(min(our.time, their.time))
        let isClear = (isBeyond || apart >= MergeHistories.clockTolerance) && latest <= now
        let isOne = areEqual || isClear || isOurSeen
        return MergeVerdict(
            result: isOne ? .one(later) : .both(original: later),
            isIndependent: !isOurSeen)
    }
}

/// The order of age of the keys of two files of a vault.
public enum VaultKeyOrder: CaseIterable, Hashable, Sendable {
    /// Both files have the same key.
    case same
    /// The vault's key is newer: it was rekeyed after the other file was saved.
    case older
    /// The other file's key is newer.
    case newer
    /// The order is unknown: both files were rekeyed independently, or by an earlier version of
    /// Watchword, or so many saves ago that the files no longer show the order.
    case unknown
}

extension VaultState {
    /// The save that gave the vault its present key; `nil` if it is the first key, or if the
    /// history does not show it.
    func rekey(to key: VaultKey) throws(VaultError) -> VaultHistory.Save? {
        let id = try key.rekeySave()
        return history.saves.first { $0.id == id }
    }

    /// Whether `key`, this file's key, is newer than the key of a file with history `other`.
    fileprivate func isRekeyed(
        to key: VaultKey, since other: VaultHistory
    ) throws(VaultError) -> Bool {
        guard let rekey = try rekey(to: key) else { return false }
        return other.lacks(rekey)
    }
}

extension UnlockedVault {
    /// The order of this vault's key and the key of `copy`.
    func keyOrder(of copy: VaultCopy) throws(VaultError) -> VaultKeyOrder {
        guard try !key.isEqual(to: copy.key) else { return .same }
        let isOurs = try state.isRekeyed(to: key, since: copy.state.history)
        let isTheirs = try copy.state.isRekeyed(to: copy.key, since: state.history)
        return isOurs == isTheirs ? .unknown : isOurs ? .older : .newer
    }
}
