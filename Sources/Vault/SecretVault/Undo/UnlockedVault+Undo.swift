internal import WatchwordSystem

extension UnlockedVault {
    /// What ``undo(_:confirmed:now:)`` would do.
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
    /// If entries have vanished (``VaultReport/vanished(_:)``), this restores them and changes nothing
    /// else.
    ///
    /// - Parameters:
    ///   - plan: the result of ``planOfUndo(now:)``, as the owner has seen it.
    ///   - confirmed: entries that require a check at each use, and whose owner has confirmed the
    ///     change.
    /// - Throws: ``VaultError/busy`` if another process has changed the vault since the plan was
    ///   made; ``VaultError/presenceNeeded`` for an entry that is not among `confirmed`. In both
    ///   cases, nothing is changed.
    public func undo(_ plan: [UndoneChange], confirmed: Set<RecordID>, now: Int64)
        throws(VaultError)
    {
        try update { changes throws(VaultError) in
            let undone = try undo(&changes, now: now)
            guard undone == plan else { throw .busy }
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

    /// The previous generation.
    private func previousState(of changes: VaultChanges) throws(VaultError) -> VaultState {
        guard let bytes = try location.previousGeneration(upTo: .max) else {
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
