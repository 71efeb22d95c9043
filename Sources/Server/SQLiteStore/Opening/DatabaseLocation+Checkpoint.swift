internal import SQLStore
public import Verification
internal import WatchwordSystem

// The checkpoint file beside the database records where the event chain ended when the file was
// last written. A database that does not reach the checkpoint was rolled back to an earlier state.
extension DatabaseLocation {
    /// The stored checkpoint; `nil` if there is none.
    func savedCheckpoint(in folder: borrowing Folder) throws(SQLiteStoreError) -> ChainCheckpoint? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try folder.readPrivateFile(checkpointName, limit: 1_024)
        } catch .missing {
            return nil
        } catch {
            throw .notPrivate(error)
        }
        guard let text = String(validating: bytes, as: UTF8.self), text.last == "\n",
            let mark = ChainCheckpoint(text: String(text.dropLast()))
        else { throw .damagedCheckpoint }
        return mark
    }

    /// Stores a checkpoint, unless a later one is already stored.
    func keep(_ mark: ChainCheckpoint) throws(SQLiteStoreError) {
        let folder = try openFolder(making: false)
        try locked(in: folder, timeout: .seconds(1)) { () throws(SQLiteStoreError) in
            try keep(mark, in: folder)
        }
    }

    /// Stores a checkpoint; the caller holds the lock.
    func keep(_ mark: ChainCheckpoint, in folder: borrowing Folder) throws(SQLiteStoreError) {
        if let kept = try savedCheckpoint(in: folder), kept.node == mark.node,
            kept.sequence >= mark.sequence
        {
            return
        }
        let text = Array("\(mark.text)\n".utf8)
        let file = FileReplacement(
            of: checkpointName, beginningWith: Array(ChainCheckpoint.textPrefix.utf8))
        do throws(FileError) {
            try file.replace(with: text.span, in: folder, previous: .none)
        } catch {
            throw SQLiteStoreError(writing: error)
        }
    }
}

extension SQLiteSession {
    /// Returns the chain's end if it is authentic, complete and not before the stored checkpoint.
    ///
    /// Reads in one transaction, because other processes may be writing.
    func checkedTail(key: AuditKey, against kept: ChainCheckpoint?) throws(SQLiteStoreError)
        -> ChainTail
    {
        try opening { () throws(SQLiteFailure) in try connection.execute("BEGIN") }
        // Nothing was written. If the rollback fails, the next BEGIN fails and reports the error.
        defer { do throws(SQLiteFailure) { try connection.execute("ROLLBACK") } catch _ {} }
        return try tail(key: key, against: kept)
    }

    private func tail(
        key: AuditKey, against kept: ChainCheckpoint?
    ) throws(SQLiteStoreError) -> ChainTail {
        let chains = try opening { () throws(SQLiteFailure) in try self.chains() }
        guard let last = chains.last, isAuthentic(last.head, key) else {
            throw SQLiteStoreError(.chain)
        }
        let tail = ChainTail(head: last.head, position: last.headPosition)
        if let kept {
            guard isAuthentic(kept, key) else { throw .damagedCheckpoint }
            guard let chain = chains.first(where: { $0.head.node == kept.node }),
                try holds(kept, of: chain)
            else { throw .rolledBack }
        }
        guard try opening({ () throws(SQLiteFailure) in try holds(tail) }) else {
            throw SQLiteStoreError(.chain)
        }
        return tail
    }

    /// Whether the stored event is the one that the checkpoint names; true if that event was
    /// pruned.
    private func holds(
        _ mark: ChainCheckpoint, of chain: ChainRecord
    ) throws(SQLiteStoreError) -> Bool {
        guard mark.sequence <= chain.head.sequence else { return false }
        if mark.sequence == chain.head.sequence { return mark.digest == chain.head.digest }
        guard mark.sequence > chain.start.sequence else { return true }
        // The positions of a chain's events have no gaps.
        let (place, isBefore) = chain.headPosition.subtractingReportingOverflow(
            chain.head.sequence - mark.sequence)
        guard !isBefore else { throw SQLiteStoreError(.chain) }
        let stored = try opening { () throws(SQLiteFailure) in try event(at: place) }
        return stored?.digest == mark.digest
    }

    private func isAuthentic(_ mark: ChainCheckpoint, _ key: AuditKey) -> Bool {
        key.isAuthentic(mark)
    }

    /// Refuses a backup, which must be restored first.
    func expectNoBackup() throws(SQLiteStoreError) {
        if try opening({ () throws(SQLiteFailure) in try has(.backedUpAt) }) { throw .isBackup }
    }
}

extension SQLiteVerificationStore {
    /// Records the current end of the event chain in a file beside the database.
    ///
    /// A database that is rolled back to a state before this checkpoint is not opened. The store
    /// writes a checkpoint when it is opened and when it is closed; a long-running service also
    /// writes one regularly. To detect a rollback of the checkpoint as well, keep its text on
    /// another machine; see ``audit(checkpoints:)``.
    @discardableResult public func saveCheckpoint() throws(SQLiteStoreError) -> ChainCheckpoint {
        let head: ChainCheckpoint?
        do { head = try chains().last?.head } catch { throw .store(error) }
        guard let head else { throw SQLiteStoreError(.chain) }
        try location.keep(head)
        return head
    }
}
