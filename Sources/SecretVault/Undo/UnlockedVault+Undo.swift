internal import POSIX

extension UnlockedVault {
    /// What ``undo(_:confirmed:now:)`` would do.
    ///
    /// - Throws: ``VaultError/nothingToUndo(_:)``; the errors of reading the previous generation.
    public func planOfUndo(now: Int64) throws(VaultError) -> [UndoneChange] {
        try rehearse { changes throws(VaultError) in
            try changes.undo(to: previousState(of: changes), now: now)
        }
    }

    /// Undoes the last change: saves a new generation with the entries of the previous one.
    ///
    /// Counters, enrolled secrets, wiped entries and the ways to open the vault stay as they are.
    /// Undoing again brings the change back.
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
            let undone = try changes.undo(to: previousState(of: changes), now: now)
            guard undone == plan else { throw .busy }
            guard undone.allSatisfy({ !$0.requiresCheck || confirmed.contains($0.id) }) else {
                throw .presenceNeeded
            }
        }
    }

    /// The previous generation, if it is the one that the last change replaced.
    private func previousState(of changes: VaultChanges) throws(VaultError) -> VaultState {
        let document: VaultDocument
        do throws(VaultError) {
            guard let own = try location.openStateFolder() else { throw .notFound }
            document = try VaultDocument(
                parsing: VaultLocation.read(VaultLocation.previous, in: own))
        } catch .notFound {
            throw .nothingToUndo(.noPrevious)
        }
        guard document.vaultID == key.vaultID else { throw .nothingToUndo(.notPredecessor) }
        let previous: VaultState
        do throws(VaultError) {
            previous = try VaultState(verifying: document, with: changes.key)
        } catch .damaged(.header) where changes.state.isRekeyed(in: document) {
            throw .nothingToUndo(.rekeyed)
        }
        guard changes.formerHistory.replaced == previous.history.newest else {
            throw .nothingToUndo(.notPredecessor)
        }
        return previous
    }
}
