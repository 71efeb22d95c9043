internal import WatchwordCryptography

extension VaultChanges {
    /// Merges the entries of `copy` into this vault.
    ///
    /// - Parameters:
    ///   - accepted: the entries that the owner allows to be wiped because they were wiped in the
    ///     copy without the vault key.
    ///   - takesOld: whether the owner allows edits that the history may have dropped.
    /// - Returns: what happens to the entries, in list order.
    mutating func merge(
        _ copy: VaultCopy, accepting accepted: Set<RecordID> = [],
        takingOldEdits takesOld: Bool = false,
        comparing order: EnrolledOrder.Function, now: Int64
    ) throws(VaultError) -> [MergeChange] {
        let isIncluded = formerHistory.includes(copy.state.history)
        if !isIncluded { oldEdits = findOldEdits(in: copy) }
        let histories = MergeHistories(
            ours: formerHistory.proved(to: copy.state.history),
            dropping: takesOld ? [] : Set(oldEdits.map(\.edited.save)),
            theirs: copy.state.history.proved(to: formerHistory), now: now)
        let copy = try proved(copy, accepting: accepted, now: now)
        let ours = state
        var merged = restored
        var ids: [RecordID] = []
        for record in ours.records {
            var pair = MergedPair(
                ours: record, theirs: copy.state.record(record.line.id), changes: self,
                copy: copy, now: now)
            if pair.areIdentical {
                ids.append(record.line.id)
                continue
            }
            try pair.merge(by: histories, comparing: order)
            merged += pair.merged
            note(pair.left)
            guard let result = pair.result else { continue }
            try state.replace(result)
            ids.append(record.line.id)
            if let second = pair.second, copy.state.record(second.line.id) == nil,
                ours.record(second.line.id) == nil
            {
                state.append(second)
                ids.append(second.line.id)
            }
            if pair.wipesOurs { eraseCopies(of: record.line.id) }
        }
        for record in copy.state.records where ours.record(record.line.id) == nil {
            var pair = MergedPair(
                ours: nil, theirs: record, changes: self, copy: copy, now: now)
            try pair.merge(by: histories, comparing: order)
            merged += pair.merged
            guard let result = pair.result else { continue }
            state.append(result)
            ids.append(record.line.id)
        }
        guard ids.count <= VaultLimits.entries else { throw .overLimit(.entries) }
        try state.arrange(ids)
        // What is not merged now must be merged later.
        if !unmerged.isEmpty { state.leaveOutMerge(into: formerHistory) }
        invalidateFingerprintIndex()
        if !merged.isEmpty || (!isIncluded && unmerged.isEmpty) { isChanged = true }
        return merged
    }

    private mutating func note(_ left: MergedPair.Left?) {
        switch left {
        case .toHome(let their, let closed):
            unmerged.append(entry(their))
            leftToHome.append(entry(closed))
        case .toOwner(let their):
            unmerged.append(entry(their))
            leftToOwner.append(entry(their))
        case nil: break
        }
    }

    private func entry(_ record: VaultState.Record) -> EntrySummary {
        record.summary(proving: [], at: key.devices.homes)
    }

    /// The entries of `copy` that differ here, and whose edits our history may have dropped.
    private func findOldEdits(in copy: VaultCopy) -> [EntrySummary] {
        let (ours, theirs) = (formerHistory, copy.state.history)
        return copy.state.records.map(\.summary).filter { entry in
            if let our = state.record(entry.id)?.listed.properties.edited.save {
                guard our != entry.edited.save, !theirs.contains(our) else { return false }
            }
            return ours.mayHaveDropped(entry.edited.save, of: theirs)
        }
    }

    /// What `copy` proves: it without tombstones that anybody could have written, unless they are
    /// accepted, and without anything if it is an earlier state of this vault.
    ///
    /// Entries that have vanished here are restored from it.
    private mutating func proved(
        _ copy: VaultCopy, accepting accepted: Set<RecordID>, now: Int64
    ) throws(VaultError) -> VaultCopy {
        let isIncluded = formerHistory.includes(copy.state.history)
        for record in state.records where record.isWipedWithoutKey {
            guard let their = copy.state.record(record.line.id) else { continue }
            if let found = record.restored(from: their) {
                try state.replace(found)
                restored.append(MergeChange(restoring: found))
            } else if let found = try newer(their, than: record, in: copy) {
                try state.replace(found)
                restored.append(MergeChange(restoring: found, replacing: record))
            } else if !isIncluded, !their.isWipedWithoutKey || !their.isVersion(of: record) {
                unmerged.append(their.summary)
            }
        }
        var theirs = isIncluded ? state : copy.state
        for record in state.records where record.isWipedWithoutKey {
            try theirs.put(record)
        }
        for record in copy.state.records where record.isWipedWithoutKey {
            let id = record.line.id
            guard let our = state.record(id) else {
                if theirs.record(id) != nil { try theirs.remove(id) }
                if !isIncluded, !formerHistory.contains(record.listed.properties.edited.save) {
                    unmerged.append(record.summary)
                }
                continue
            }
            guard our.isSealed else { continue }
            if accepted.contains(id) {
                // Nobody vouches for the time and the reason in the copy.
                let tombstone = Tombstone(time: max(now, 0), reason: .failures)
                try theirs.put(
                    VaultState.Record(
                        line: record.line, listed: record.listed, body: .tombstone(tombstone)))
            } else {
                declinedWipes.append(id)
                let found = record.restored(from: our)
                if found == nil, !isIncluded { unmerged.append(record.summary) }
                try theirs.put(found ?? our)
            }
        }
        if !isIncluded { try keepNewerKeys(of: &theirs, accepting: accepted) }
        return VaultCopy(state: theirs, key: copy.key)
    }

    /// Leaves out the entries of `theirs` that are wiped on one side, and may have another key on
    /// the other side, which the wiping side has not seen.
    ///
    /// A wipe covers the secret that it replaced. Wiping another key cannot be undone, so the owner
    /// decides; and a wiped entry returns only after its owner has removed it.
    private mutating func keepNewerKeys(
        of theirs: inout VaultState, accepting accepted: Set<RecordID>
    ) throws(VaultError) {
        for their in theirs.records {
            guard let our = state.record(their.line.id) else { continue }
            switch (our.isSealed, their.isSealed) {
            case (true, false)
            where our.mayHaveNewerKey(formerHistory, than: their, theirs.history)
                && !accepted.contains(our.line.id):
                declinedWipes.append(our.line.id)
            case (false, true)
            where !our.isWipedWithoutKey
                && their.mayHaveNewerKey(theirs.history, than: our, formerHistory):
                break
            default: continue
            }
            unmerged.append(their.summary)
            try theirs.replace(our)
        }
    }

    /// The record of `copy`, sealed for this vault, if it has its secret, and an edit that follows
    /// the last one of `record`, which has vanished here.
    private func newer(
        _ their: VaultState.Record, than record: VaultState.Record, in copy: VaultCopy
    ) throws(VaultError) -> VaultState.Record? {
        guard their.isSealed,
            copy.state.history.contains(record.listed.properties.edited.save),
            !formerHistory.contains(their.listed.properties.edited.save)
        else { return nil }
        return try MergedEntry(their, with: copy.key)
            .sealed(like: nil, in: state.generation, under: key)
    }
}

extension VaultState.Record {
    /// Whether this record may have a key that was entered since the one of `wiped`, and that the
    /// file with the wiped record has not seen.
    ///
    /// The server alone changes an enrolled secret, so its wipe covers each later state.
    fileprivate func mayHaveNewerKey(
        _ history: VaultHistory, than wiped: VaultState.Record, _ wipedHistory: VaultHistory
    ) -> Bool {
        let (edit, other) = (listed.properties.edited.save, wiped.listed.properties.edited.save)
        guard listed.properties.traits != .enrolled, edit != other, !wipedHistory.contains(edit)
        else { return false }
        // A counter may have advanced on both sides in the same generation.
        if case .hotp = listed.properties.traits { return true }
        return line.revision != wiped.line.revision || !history.contains(other)
    }

    /// Whether both were sealed by the same save, and have the same properties.
    fileprivate func isVersion(of other: VaultState.Record) -> Bool {
        line == other.line && listed.properties == other.listed.properties
    }
}

/// The two copies of one entry, and the result of merging them.
private struct MergedPair {
    /// Who decides about copies of which one is closed here.
    enum Left {
        /// The device to which the secret is bound.
        case toHome(theirs: VaultState.Record, closed: VaultState.Record)
        /// The owner, because the copies are bound to two devices.
        case toOwner(theirs: VaultState.Record)
    }

    private let ours: VaultState.Record?
    private let theirs: VaultState.Record?
    private let key: VaultKey
    private let copy: VaultCopy
    private let generation: UInt64
    private let formerHistory: VaultHistory
    /// The edit that is recorded if the merge itself changes the entry.
    private let edit: EntryEdit

    /// What happens to the entry.
    private(set) var merged: [MergeChange] = []
    /// The entry; `nil` if it is removed.
    private(set) var result: VaultState.Record?
    /// Another entry with the other content.
    private(set) var second: VaultState.Record?
    /// Whether our secret is replaced by a tombstone.
    private(set) var wipesOurs = false
    /// Set if our copy stays as it is until somebody decides.
    private(set) var left: Left?

    init(
        ours: VaultState.Record?, theirs: VaultState.Record?, changes: VaultChanges,
        copy: VaultCopy, now: Int64
    ) {
        self.ours = ours
        self.theirs = theirs
        self.copy = copy
        key = changes.key
        generation = changes.state.generation
        formerHistory = changes.formerHistory
        edit = changes.edit(at: now)
    }

    /// Whether both files contain the same box and the same properties.
    var areIdentical: Bool {
        guard let ours, let theirs, ours.line == theirs.line,
            ours.listed.properties == theirs.listed.properties
        else { return false }
        switch (ours.body, theirs.body) {
        case (.sealed(let box), .sealed(let other)): return box.elementsEqual(other)
        case (.tombstone(let tombstone), .tombstone(let other)): return tombstone == other
        default: return false
        }
    }

    mutating func merge(by histories: MergeHistories, comparing order: EnrolledOrder.Function)
        throws(VaultError)
    {
        let our = try opened(ours, with: key)
        let their: MergedEntry?
        do {
            their = try opened(theirs, with: copy.key)
        } catch .damaged(let part) {
            throw .copyDamaged(part)
        }
        var areEqual = false
        if let our, let their {
            areEqual = try our.parts(differingFrom: their).allSatisfy { $0 == .accessControl }
        }
        var verdict = histories.verdict(
            our?.properties.edited, their?.properties.edited, areEqual: areEqual)
        if let our, let their, our.staysOne(with: their) {
            if case .both(let original) = verdict.result {
                verdict = MergeVerdict(result: .one(original), isIndependent: true)
            }
        } else if case .one(let later) = verdict.result, verdict.isIndependent, let our, let their,
            try our.parts(differingFrom: their).contains(.secret)
        {
            // No key is dropped, however clear it is which edit is newer.
            verdict = MergeVerdict(result: .both(original: later), isIndependent: true)
        }
        switch verdict.result {
        case .removed:
            if let our { note(.removed, our, requiresCheck: our.requiresCheck) }
        case .one(.ours):
            guard let our else { return }
            try join(our, with: their, by: verdict, comparing: order)
        case .one(.theirs):
            guard let their else { return }
            guard let our else {
                note(.added, their)
                result = try their.sealed(like: nil, in: generation, under: key)
                return
            }
            try join(their, with: our, by: verdict, comparing: order)
        case .both(let original):
            guard let our, let their else { return }
            let (winner, loser) = original == .ours ? (our, their) : (their, our)
            try join(winner, with: loser, by: verdict, comparing: order)
            try addSecond(loser, beside: winner, comparing: order)
        }
    }

    private func opened(_ record: VaultState.Record?, with key: VaultKey) throws(VaultError)
        -> MergedEntry?
    {
        guard let record else { return nil }
        return try MergedEntry(record, with: key)
    }

    /// Makes the result from the winning copy, and from what the other copy has that must not be
    /// rolled back.
    private mutating func join(
        _ winner: MergedEntry, with loser: MergedEntry?, by verdict: MergeVerdict,
        comparing order: EnrolledOrder.Function
    ) throws(VaultError) {
        guard let our = try opened(ours, with: key) else { return }
        var entry = winner
        var isForked = false
        if let loser {
            if !winner.isWiped, !loser.isWiped, winner.closed != nil || loser.closed != nil {
                let isOurs = verdict.result == .one(.ours)
                var side = try sealedSide(our, isOurs ? loser : winner, by: verdict)
                // Whoever saved a file that includes this one has decided.
                if copy.state.history.includes(formerHistory) { side = side ?? .theirs }
                guard let side else { return leave(winner, loser) }
                if (side == .ours) != isOurs { entry.takeSealedPart(of: loser) }
            }
            isForked = entry.advance(to: loser, comparing: order)
            entry.wipe(like: loser)
            // Only the device changes what it has sealed.
            if verdict.isIndependent, entry.closed == nil {
                entry.access = entry.access.stricter(than: loser.access)
                if !entry.isWiped { entry.device = entry.device ?? loser.device }
            }
            // A result that differs from the winner is an edit of its own.
            if try !entry.parts(differingFrom: winner).isEmpty { entry.properties.edited = edit }
        }
        let parts = try entry.parts(differingFrom: our)
        let isReplaced = parts.contains { $0 != .details }
        wipesOurs = entry.isWiped && !our.isWiped
        if case .both = verdict.result {
            needsCheck = isReplaced && our.requiresCheck
        } else if wipesOurs {
            note(.wiped, entry, requiresCheck: our.requiresCheck)
        } else if !parts.isEmpty {
            note(.replaced(parts), entry, requiresCheck: isReplaced && our.requiresCheck)
        } else if let loser, verdict.isIndependent,
            try !loser.parts(differingFrom: winner).isEmpty
        {
            note(.kept, entry)
        }
        if !wipesOurs, !parts.contains(.secret), try entry.isAdvanced(from: our) {
            note(.advanced, entry)
        }
        if isForked { note(.forked, entry) }
        result = try entry.sealed(like: ours, in: generation, under: key)
    }

    /// Whether replacing our copy, which does not keep the ID, requires a check.
    private var needsCheck = false

    /// Keeps our copy as it is.
    private mutating func leave(_ copies: MergedEntry...) {
        guard let ours, let theirs else { return }
        result = ours
        if Set(copies.compactMap(\.device)).count > 1 {
            left = .toOwner(theirs: theirs)
        } else {
            left = .toHome(theirs: theirs, closed: ours.device == nil ? theirs : ours)
        }
    }

    /// The side whose secret, access control and device the result has, if one copy is closed here;
    /// `nil` if that cannot be told without the secret.
    private func sealedSide(
        _ our: MergedEntry, _ their: MergedEntry, by verdict: MergeVerdict
    ) throws(VaultError) -> MergeVerdict.Side? {
        let later: MergeVerdict.Side = verdict.result == .one(.ours) ? .ours : .theirs
        let isDecided =
            !verdict.isIndependent && our.properties.edited != their.properties.edited
        let advanced: MergeVerdict.Side? =
            our.state == their.state ? nil : our.state > their.state ? .ours : .theirs
        let areEnrolled = our.isEnrolled && their.isEnrolled
        let areCounters = our.isCounter && their.isCounter
        if our.device == their.device {
            if try our.hasPayload(of: their) { return later }
            let isCounted = our.isCounted(like: their)
            if isCounted, let advanced { return advanced }
            let revisions = (our.line.revision, their.line.revision)
            // An edit that was seen covers all that was sealed before, except counters.
            let isSeen = isDecided && !areCounters
            let isForked = !isCounted && !isSeen && wasSealed(on: .ours) && wasSealed(on: .theirs)
            guard revisions.0 != revisions.1, !isForked else { return nil }
            return revisions.0 > revisions.1 ? .ours : .theirs
        }
        if isDecided {
            // An explicit binding, its end, or a move.
            return (areEnrolled || areCounters) && advanced == later.other ? nil : later
        }
        // The secret of the other device is spent.
        if our.device != nil, their.device != nil { return areEnrolled ? advanced : nil }
        let bound: MergeVerdict.Side = our.device == nil ? .theirs : .ours
        let mayReplace = areEnrolled ? advanced != bound.other : !wasSealed(on: bound.other)
        return mayReplace ? bound : nil
    }

    /// Whether this side's copy may have been sealed since the two files parted.
    private func wasSealed(on side: MergeVerdict.Side) -> Bool {
        let record = side == .ours ? ours : theirs
        let (own, other) =
            side == .ours
            ? (formerHistory, copy.state.history) : (copy.state.history, formerHistory)
        return record.map { own.mayHaveSealed(in: $0.line.revision, since: other) } ?? false
    }

    private mutating func addSecond(
        _ loser: MergedEntry, beside winner: MergedEntry, comparing order: EnrolledOrder.Function
    ) throws(VaultError) {
        var entry = loser.second(edited: edit)
        _ = entry.advance(to: winner, comparing: order)
        entry.access = entry.access.stricter(than: winner.access)
        second = try entry.sealed(like: nil, in: generation, under: key)
        let names = EntryNames(
            issuer: entry.properties.issuer, account: entry.properties.account)
        note(.keptBoth(copy: names), winner, requiresCheck: needsCheck)
    }

    private mutating func note(
        _ action: MergeChange.Action, _ entry: MergedEntry, requiresCheck: Bool = false
    ) {
        merged.append(
            MergeChange(
                id: entry.id, issuer: entry.properties.issuer, account: entry.properties.account,
                action: action, requiresCheck: requiresCheck))
    }
}
