public import SQLStore
internal import Synchronization
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
    /// - Throws: ``SQLStoreError``, such as ``SQLStoreError/rolledBack`` for an older state of the
    ///   database, or ``SQLStoreError/isBackup`` for a copy that was not restored.
    public init(opening path: String, key: AuditKey, timeout: Duration = .seconds(2))
        throws(SQLStoreError)
    {
        location = DatabaseLocation(path)
        self.key = key
        checkpointer = Checkpointer(path: location.path)
        let writer = try location.open(key: key, checkpointer: checkpointer, timeout: timeout)
        readers = ReaderPool(path: location.path)
        committer = GroupCommitter()
        try SQLStoreError.store(in: committer.start(with: writer))
    }

    /// Returns whether the database exists: its file, or the checkpoint of a file that was removed.
    ///
    /// If the database exists, a missing key file is lost (`KeyRing.init(at:isStoreKnown:)`).
    ///
    /// - Throws: ``SQLStoreError/system(_:)`` if the folder cannot be read; a missing folder is not
    ///   an error.
    public static func exists(_ path: String) throws(SQLStoreError) -> Bool {
        let location = DatabaseLocation(path)
        let opened = try SQLStoreError.system(
            in: SystemCallFailure.nilIf(\.isMissing, Folder(opening: location.folder)))
        guard let folder = opened else { return false }
        for name in [location.name, location.checkpointName] {
            if try SQLStoreError.system(in: folder.holds(name)) { return true }
        }
        return false
    }

    deinit { close() }

    /// Why the last WAL checkpoint failed; `nil` if it succeeded.
    ///
    /// Decisions are still durable in the log, which keeps growing. If the disk did not confirm a
    /// write, the log is checkpointed again only when the database is next opened.
    public var checkpointFailure: StoreFailure? { checkpointer.failure }

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
    ) throws(SQLStoreError) -> DatabaseWriter {
        let folder = try openFolder(making: true)
        return try locked(in: folder, timeout: max(timeout, .seconds(5))) {
            () throws(SQLStoreError) in
            if try !exists(in: folder) {
                // A checkpoint without a database shows that the database was removed.
                guard try savedCheckpoint(in: folder) == nil else { throw .rolledBack }
                try SQLStoreError.system(in: folder.makePrivateFile(name))
            }
            return try open(in: folder, key: key, checkpointer, timeout: timeout)
        }
    }

    private func open(
        in folder: borrowing Folder, key: AuditKey, _ checkpointer: Checkpointer, timeout: Duration
    ) throws(SQLStoreError) -> DatabaseWriter {
        let session = try SQLStoreError.store(in: openSession(timeout: timeout))
        // The following checks come before any change to the file.
        if try session.connection.requireOwnFile() > 0 { try session.expectNoBackup() }
        try SQLStoreError.store(in: session.connection.prepareForWriting())
        try session.connection.updateSchema(key: key) {
            Randomness.bytes(count: 16)
        }
        let kept = try savedCheckpoint(in: folder)
        let tail = try session.checkedTail(key: key, against: kept)
        do throws(SQLStoreError) { try keep(tail.head, in: folder) } catch {
            // If the disk is full, the stored checkpoint stays valid, although it is older.
            guard kept != nil else { throw error }
        }
        return DatabaseWriter(
            session, key: key, known: tail, at: self, checkpointer: checkpointer)
    }
}

/// Read connections, each lent to one caller at a time.
///
/// A read touches a few pages that the system has cached, and runs on the caller's thread: a switch
/// to another thread would take longer than the read. In WAL mode, readers and the writer do not
/// wait for each other. There are never more connections than threads that read at the same time.
final class ReaderPool: Sendable {
    private struct State {
        var idle: [SQLiteSession] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let path: String

    /// How long to wait for a lock.
    ///
    /// Readers wait only while another process recovers the file after a crash.
    private static let timeout = Duration.seconds(1)

    init(path: String) { self.path = path }

    /// Lends a connection to `body`.
    func read<Found>(
        _ body: (SQLiteSession) throws(StoreFailure) -> Found
    ) throws(StoreFailure) -> Found {
        let (ready, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
        guard !isClosed else { throw .closed }
        let session: SQLiteSession
        if let ready { session = ready } else { session = try open() }
        // A connection that failed is not reused: a new connection has no state from the failure.
        try session.connection.expectInPlace()
        let found = try body(session)
        state.withLock { if !$0.isClosed { $0.idle.append(session) } }
        return found
    }

    /// Closes the idle connections now, and each of the others when its caller returns the
    /// connection.
    func close() { state.withLock { $0 = State(idle: [], isClosed: true) } }

    private func open() throws(StoreFailure) -> SQLiteSession {
        let connection = try SQLiteConnection(
            path: path, .readOnly, timeout: Self.timeout)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;")
        return SQLiteSession(connection)
    }
}
