internal import Cryptography
internal import POSIX
public import Verification

/// The store in one file, for the processes of one machine.
///
/// One connection writes, and commits together what waits together, on a thread of its own when there
/// is more than one caller. Reads have connections of their own then, and wait for nobody. Any number
/// of processes may share the file.
///
/// Beside the file lie SQLite's own (`-wal`, `-shm`), `.lock` (held while it is opened) and `.mark`:
/// where the chain of events ended when ``keepMark()`` wrote it last. A database that was put back to
/// an earlier state behind the program's back is not opened: it would take spent codes again.
public final class SQLiteStore: Sendable {
    let location: DatabaseLocation
    let key: AuditKey
    let committer: GroupCommitter
    let checkpointer: Checkpointer
    let readers: ReaderPool

    /// Opens the database at `path`; makes it (mode 0600, in a 0700 folder) when it is missing.
    ///
    /// Schema steps are taken once, by whoever comes first.
    ///
    /// - Parameter timeout: how long to wait for another process's lock, here and in each
    ///   commit. A commit that waits behind another one waits at most twice as long.
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

    /// Why the write-ahead log is not taken into the file; nothing when all is well.
    ///
    /// Decisions are durable in the log all the same, which grows meanwhile. Where the disk did not confirm
    /// what was written, it is taken in once more by whoever opens the file next, and not before.
    public var checkpointFailure: StoreFailure? { checkpointer.failure.map { StoreFailure($0) } }

    /// Does what is waiting and closes the files; calls that come later fail.
    public func close() {
        // The writer closes last, and so takes the write-ahead log into the file.
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
            if try !isThere(in: folder) {
                // A mark says that there was one.
                guard try keptMark(in: folder) == nil else { throw .putBack }
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
        let session: SQLiteSession
        do throws(SQLiteFailure) {
            let connection = try SQLiteConnection(
                path: path, .readWrite, timeout: timeout)
            session = SQLiteSession(connection)
        } catch {
            throw SQLiteStoreError(error)
        }
        // Before anything of it is changed.
        if try session.connection.expectOurs() > 0 { try session.expectNoBackup() }
        do { try session.connection.prepareForWriting() } catch { throw SQLiteStoreError(error) }
        try session.connection.bringUpToDate(key: key) { () throws(CryptographyFailure) in
            try Randomness.bytes(count: 16)
        }
        let kept = try keptMark(in: folder)
        let tail = try session.checkedTail(key: key, against: kept)
        do throws(SQLiteStoreError) { try keep(tail.head, in: folder) } catch {
            // On a full disk the one that is kept serves, too: it is as true, only older.
            guard kept != nil else { throw error }
        }
        return DatabaseWriter(
            session, key: key, known: tail, at: self, checkpointer: checkpointer,
            timeout: timeout)
    }
}
