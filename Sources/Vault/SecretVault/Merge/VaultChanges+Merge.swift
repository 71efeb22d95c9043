internal import WatchwordCryptography

extension VaultChanges {
    /// Merges the entries of `copy` into this vault.
    ///
    /// - Parameters:
    ///   - accepted: the entries that the owner allows to be wiped although they were wiped in the
    ///     copy without the vault key.
    ///   - takesOld: whether the owner allows edits that the history may have dropped.
    /// - Returns: the changes to entries, in list order.
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
        // Entries that are not merged now must be merged later.
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

    /// The changes in `copy` that may be merged.
    ///
    /// Tombstones that anyone could have written are left out unless they are accepted; if `copy`
    /// is an earlier state of this vault, everything is left out.
    ///
    /// Entries that have vanished here are restored from `copy`.
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
                // The time and the reason in the copy are not authenticated.
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

    /// Leaves out the entries of `theirs` that are wiped on one side, and on the other side may
    /// have a different key that the wiping side has not seen.
    ///
    /// A wipe covers the secret that it replaced. Wiping a different key cannot be undone, so the
    /// owner decides; and a wiped entry returns only after its owner has removed it.
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

    /// The record of `copy`, sealed for this vault; `nil` unless it has its secret and an edit that
    /// follows the last edit of `record`, which has vanished here.
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
    /// Whether this record may have a key that was entered after that of `wiped`, in an edit that
    /// the file with the wiped record has not seen.
    ///
    /// Only the server changes an enrolled secret, so a wipe covers all later states, too.
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
