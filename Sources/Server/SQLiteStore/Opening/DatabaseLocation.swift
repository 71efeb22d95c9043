public import SQLStore
public import Verification
internal import WatchwordSystem

/// The path of a database, and the names of the files beside it.
struct DatabaseLocation: Sendable {
    let folder: String
    let name: String

    init(_ path: String) { (folder, name) = OutputFile.split(path) }

    /// The path for SQLite.
    ///
    /// The path always contains a folder, so that SQLite never parses it as a URI.
    var path: String { "\(folder)/\(name)" }
    /// The file that stores the checkpoint of the chain's end.
    var checkpointName: String { name + ".mark" }

    /// Opens the folder, and refuses one that other users can change.
    func openFolder(making: Bool) throws(SQLStoreError) -> Folder {
        if making { try SQLStoreError.system(in: Folder.make(folder)) }
        let opened = try SQLStoreError.system(in: Folder(opening: folder))
        if let exposure = try SQLStoreError.system(in: opened.exposure()) {
            throw .exposed(exposure)
        }
        return opened
    }

    /// Returns whether the database file exists, and refuses one that other users can access.
    func exists(in folder: borrowing Folder) throws(SQLStoreError) -> Bool {
        do { return try folder.holdsPrivateFile(name) } catch { throw .notPrivate(error) }
    }

    /// Holds the lock under which the file is created, migrated or replaced.
    func locked<Result: ~Copyable>(
        in folder: borrowing Folder, timeout: Duration,
        _ body: () throws(SQLStoreError) -> Result
    ) throws(SQLStoreError) -> Result {
        let lock = try SQLStoreError.writing(
            in: FileLock(name + ".lock", in: folder, timeout: timeout))
        let result = try body()
        withExtendedLifetime(lock) {}
        return result
    }
}

extension SQLStoreError {
    /// Converts the error of locking or writing a file beside the database.
    static func writing<Result: ~Copyable>(
        in call: @autoclosure () throws(FileError) -> Result
    ) throws(SQLStoreError) -> Result {
        do { return try call() } catch {
            switch error {
            case .busy: throw .busy
            case .system(let failure), .notConfirmed(let failure): throw .system(failure)
            default: throw .exists
            }
        }
    }
}

// The checkpoint file beside the database records where the event chain ended when the file was
// last written. A database that does not reach the checkpoint was rolled back to an earlier state.
extension DatabaseLocation {
    /// The stored checkpoint; `nil` if there is none.
    func savedCheckpoint(in folder: borrowing Folder) throws(SQLStoreError) -> ChainCheckpoint? {
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

    /// Stores a checkpoint, unless a later checkpoint is already stored.
    func keep(_ mark: ChainCheckpoint, of session: SQLiteSession) throws(SQLStoreError) {
        let folder = try openFolder(making: false)
        try locked(in: folder, timeout: .seconds(1)) { () throws(SQLStoreError) in
            // A restored database may have taken the place of the one that is open.
            try SQLStoreError.store(in: session.connection.expectInPlace())
            try keep(mark, in: folder)
        }
    }

    /// Stores a checkpoint; the caller holds the lock.
    func keep(_ mark: ChainCheckpoint, in folder: borrowing Folder) throws(SQLStoreError) {
        if let kept = try savedCheckpoint(in: folder), kept.node == mark.node,
            kept.sequence >= mark.sequence
        {
            return
        }
        let text = Array("\(mark.text)\n".utf8)
        let file = FileReplacement(
            of: checkpointName, beginningWith: Array(ChainCheckpoint.textPrefix.utf8))
        try SQLStoreError.writing(in: file.replace(with: text.span, in: folder, previous: .none))
    }
}

extension SQLiteSession {
    /// Returns the chain's end if it is authentic, complete and not before the stored checkpoint.
    ///
    /// Reads in one transaction, because other processes may be writing.
    func checkedTail(key: AuditKey, against kept: ChainCheckpoint?) throws(SQLStoreError)
        -> ChainTail
    {
        try SQLStoreError.store(in: connection.execute("BEGIN"))
        // Nothing was written. If the rollback fails, the next BEGIN fails and reports the error.
        defer { do throws(StoreFailure) { try connection.execute("ROLLBACK") } catch _ {} }
        return try tail(key: key, against: kept)
    }

    private func tail(
        key: AuditKey, against kept: ChainCheckpoint?
    ) throws(SQLStoreError) -> ChainTail {
        let chains = try SQLStoreError.store(in: self.chains())
        guard let last = chains.last, key.isAuthentic(last.head) else {
            throw .store(.chain)
        }
        let tail = ChainTail(head: last.head, position: last.headPosition)
        if let kept {
            guard key.isAuthentic(kept) else { throw .damagedCheckpoint }
            guard let chain = chains.first(where: { $0.head.node == kept.node }),
                try holds(kept, of: chain)
            else { throw .rolledBack }
        }
        guard try SQLStoreError.store(in: holds(tail)) else { throw .store(.chain) }
        return tail
    }

    /// Whether the stored event is the one in the checkpoint; true if that event was pruned.
    private func holds(
        _ mark: ChainCheckpoint, of chain: ChainRecord
    ) throws(SQLStoreError) -> Bool {
        guard mark.sequence <= chain.head.sequence else { return false }
        if mark.sequence == chain.head.sequence { return mark.digest == chain.head.digest }
        guard mark.sequence > chain.start.sequence else { return true }
        // The positions of a chain's events have no gaps.
        let (place, isBefore) = chain.headPosition.subtractingReportingOverflow(
            chain.head.sequence - mark.sequence)
        guard !isBefore else { throw .store(.chain) }
        let stored = try SQLStoreError.store(in: event(at: place))
        return stored?.digest == mark.digest
    }

    /// Refuses a backup, which must be restored first.
    func expectNoBackup() throws(SQLStoreError) {
        if try SQLStoreError.store(in: has(.backedUpAt)) { throw .isBackup }
    }
}

extension SQLiteVerificationStore {
    /// Records the current end of the event chain in a file beside the database.
    ///
    /// A database that is rolled back to a state before this checkpoint is not opened. The store
    /// writes a checkpoint when it is opened and when it is closed; a long-running service also
    /// writes one regularly. To detect a rollback of the checkpoint as well, keep its text on
    /// another machine; see ``audit(checkpoints:)``.
    @discardableResult public func saveCheckpoint() throws(SQLStoreError) -> ChainCheckpoint {
        let kept = try SQLStoreError.store(
            in: read { session throws(StoreFailure) in
                Result { () throws(SQLStoreError) in
                    guard let head = try SQLStoreError.store(in: session.chains().last?.head)
                    else { throw .store(.chain) }
                    try location.keep(head, of: session)
                    return head
                }
            })
        return try kept.get()
    }
}
