public import Verification
internal import WatchwordCryptography
internal import WatchwordSystem

/// The store in one SQLite file, for any number of processes on one machine.
///
/// One connection writes and commits all waiting changes together; if there is more than one
/// caller, it runs on its own thread. Reads then use their own connections and never wait for the
/// writer.
///
/// Beside the database are SQLite's own files (`-wal`, `-shm`), `.lock` (held while the database is
/// opened) and `.mark`: the checkpoint of the event chain's end that ``saveCheckpoint()`` last
/// wrote. A database that was rolled back to an earlier state is not opened: it would accept spent
/// codes again.
public final class SQLiteVerificationStore: Sendable {
    let location: DatabaseLocation
    let key: AuditKey
    let committer: GroupCommitter
    let checkpointer: Checkpointer
    let readers: ReaderPool

    /// Opens the database at `path`, or creates it (mode 0600, in a 0700 folder).
    ///
    /// Each schema step runs once, in the first process that opens the database.
    ///
    /// - Parameter timeout: how long to wait for another process's lock, here and in each commit. A
    ///   commit that is queued behind another one waits at most twice as long.
    public init(opening path: String, key: AuditKey, timeout: Duration = .seconds(2))
        throws(SQLiteStoreError)
    {
        location = DatabaseLocation(path)
        self.key = key
        checkpointer = Checkpointer(path: location.path)
        let writer = try location.open(key: key, checkpointer: checkpointer, timeout: timeout)
        readers = ReaderPool(path: location.path)
        committer = GroupCommitter()
        do { try committer.start(with: writer) } catch { throw .store(error) }
    }

    deinit { close() }

    /// Why the last WAL checkpoint failed; `nil` if it succeeded.
    ///
    /// Decisions are still durable in the log, which keeps growing. If the disk did not confirm a
    /// write, the log is checkpointed again only when the database is next opened.
    public var checkpointFailure: StoreFailure? { checkpointer.failure.map { StoreFailure($0) } }

    /// Completes waiting jobs and closes the files; later calls fail.
    public func close() {
        // The writer must close last, so that it checkpoints the write-ahead log.
        readers.close()
        committer.close()
    }
}

extension DatabaseLocation {
    /// Opens the file for writing, under the lock.
    func open(
        key: AuditKey, checkpointer: Checkpointer, timeout: Duration
    ) throws(SQLiteStoreError) -> DatabaseWriter {
        let folder = try openFolder(making: true)
        return try locked(in: folder, timeout: max(timeout, .seconds(5))) {
            () throws(SQLiteStoreError) in
            if try !exists(in: folder) {
                // A checkpoint without a database means that the database was removed.
                guard try savedCheckpoint(in: folder) == nil else { throw .rolledBack }
                try makingSystemError { () throws(SystemCallFailure) in
                    try folder.makePrivateFile(name)
                }
            }
            return try open(in: folder, key: key, checkpointer, timeout: timeout)
        }
    }

    private func open(
        in folder: borrowing Folder, key: AuditKey, _ checkpointer: Checkpointer, timeout: Duration
    ) throws(SQLiteStoreError) -> DatabaseWriter {
        let session = try opening { () throws(SQLiteFailure) in
            SQLiteSession(try SQLiteConnection(path: path, .readWrite, timeout: timeout))
        }
        // These checks come before anything in the file is changed.
        if try session.connection.requireOwnFile() > 0 { try session.expectNoBackup() }
        try opening { () throws(SQLiteFailure) in try session.connection.prepareForWriting() }
        try session.connection.updateSchema(key: key) {
            Randomness.bytes(count: 16)
        }
        let kept = try savedCheckpoint(in: folder)
        let tail = try session.checkedTail(key: key, against: kept)
        do throws(SQLiteStoreError) { try keep(tail.head, in: folder) } catch {
            // If the disk is full, the stored checkpoint is used; it is valid, only older.
            guard kept != nil else { throw error }
        }
        return DatabaseWriter(
            session, key: key, known: tail, at: self, checkpointer: checkpointer)
    }
}
