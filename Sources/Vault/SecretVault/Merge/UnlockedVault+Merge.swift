public import WatchwordCryptography
internal import WatchwordSystem

extension UnlockedVault {
    /// Opens another file of this vault with this vault's key; `nil` if it has another key.
    ///
    /// - Throws: ``VaultError/otherVault`` if it is a file of another vault.
    public func copy(at path: String) throws(VaultError) -> VaultCopy? {
        let document = try VaultDocument(parsing: VaultLocation(path).read())
        guard document.vaultID == key.vaultID else { throw .otherVault }
        return try state.verified(document, with: key).map { VaultCopy(state: $0, key: key) }
    }

    /// Opens another file of this vault, which has another key, with its passphrase.
    ///
    /// A guess at the passphrase of a vault in use is counted there. Other failures are not counted,
    /// because the file can be copied.
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
        return VaultCopy(state: slot.state, key: slot.key)
    }

    /// What to report about an older or a diverged file, and about its key, if `copy` is merged.
    ///
    /// If that has everything that was last saved here, nothing is missing after the merge.
    package func alarms(merging copy: VaultCopy) throws(VaultError) -> [VaultReport] {
        let mark = try GenerationRecord.read(of: location, vaultID: state.vaultID)
        let isIncluded = mark?.isIncluded(in: copy.state) == true
        return reports.filter { $0.isAlarm && !(isIncluded && $0 == generationReport) }
    }

    /// This vault, for a merge into another file of it.
    public var asCopy: VaultCopy { VaultCopy(state: state, key: key) }

    /// What ``merge(_:confirmed:comparing:now:)`` would do.
    ///
    /// - Parameters:
    ///   - accepted: the entries of ``MergePlan/declinedWipes`` that the owner allows to be wiped.
    ///   - takesOld: whether the owner allows ``MergePlan/oldEdits`` to be merged.
    /// - Throws: ``VaultError/copyHasNewerKey``: this file can be merged into the other one instead.
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
        let changes = try rehearse(joining: copy.state.history) { changes throws(VaultError) in
            defer {
                (declined, oldEdits) = (changes.declinedWipes, changes.oldEdits)
                unmerged = changes.unmerged
            }
            return try changes.merge(
                copy, accepting: accepted, takingOldEdits: takesOld, comparing: order, now: now)
        }
        let known = Set(state.slots.map(\.slot.head.publicKey))
        return MergePlan(
            copy: copy, changes: changes, isIncluded: state.history.includes(copy.state.history),
            declinedWipes: declined, unmerged: unmerged, acceptedWipes: accepted,
            oldEdits: oldEdits, takesOldEdits: takesOld, keys: keys,
            foreignSlots: copy.state.slots.map(\.slot)
                .filter { !known.contains($0.head.publicKey) }.map(SlotSummary.init))
    }

    /// Merges the entries of another file of this vault into this one, in one save.
    ///
    /// - Parameters:
    ///   - plan: the result of ``planOfMerge(with:accepting:takingOldEdits:comparing:now:)``, as the owner has seen it.
    ///   - confirmed: entries that require a check at each use, and whose owner has confirmed the
    ///     change.
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

    /// Writes what ``merge(_:confirmed:comparing:now:)`` would save over the file at `path`, which
    /// must be an exact copy of this vault; does not change the vault.
    ///
    /// - Throws: ``VaultError/changedMeanwhile`` if the file is not such a copy;
    ///   ``VaultError/vanishedEntries`` if the merge wipes entries: their older copies must be
    ///   erased, which only a save of the vault does.
    public func merge(
        _ plan: MergePlan, confirmed: Set<RecordID>, into path: String,
        comparing order: EnrolledOrder.Function, now: Int64
    ) throws(VaultError) {
        let bytes = try rehearse(joining: plan.copy.state.history) { changes throws(VaultError) in
            try changes.merge(plan, confirmed: confirmed, comparing: order, now: now)
            guard changes.wiped.isEmpty, !changes.erasesPrevious else { throw .vanishedEntries }
            return try changes.state.written(with: changes.key)
        }
        // Verify the new file exactly as the next unlock will.
        _ = try VaultState(verifying: VaultDocument(parsing: bytes), with: key)
        let target = try VaultLocation(path)
        guard FileStamp(of: path) != FileStamp(of: location.path(beside: location.name)) else {
            throw .alreadyExists
        }
        let current = try VaultDocument(parsing: location.read())
        guard try VaultState(verifying: current, with: key).history.newest == state.history.newest,
            try target.read() == current.bytes
        else { throw .changedMeanwhile }
        // Files beside it may be other vaults, so the new one gets an unused name first.
        do {
            try OutputFile.write(bytes.span, to: path, replacing: true)
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
