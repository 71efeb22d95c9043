internal import CSQLite
internal import Verification
internal import WatchwordSystem

/// An open database file, closed on deinitialisation.
///
/// Use it from one thread at a time: SQLite does not serialise its calls (`SQLITE_OPEN_NOMUTEX`).
@safe struct SQLiteConnection: ~Copyable {
    enum Access {
        /// Reads and writes an existing file.
        case readWrite
        /// Reads an existing file; SQLite still writes the files beside it that WAL mode needs.
        case readOnly

        fileprivate var flags: Int32 {
            switch self {
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        }
    }

    let handle: OpaquePointer
    /// The number of pages in the log after the last commit, once ``countLogPages()`` has been
    /// called.
    let logCount: UnsafeMutablePointer<Int32>
    /// How long to wait for a lock that another connection holds.
    private let timeout: Duration

    /// Opens the existing file at `path`.
    ///
    /// - Parameter timeout: how long to wait for a lock that another connection holds.
    init(path: String, _ access: Access, timeout: Duration) throws(StoreFailure) {
        let flags =
            access.flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let ready = unsafe opened else {
            // SQLite returns a handle even if opening fails.
            unsafe sqlite3_close_v2(opened)
            throw StoreFailure(sqlite: code)
        }
        // Any writer of the file can add triggers and views; our schema needs none.
        let distrusted = unsafe watchword_distrust(ready)
        guard distrusted == SQLITE_OK else {
            unsafe sqlite3_close_v2(ready)
            throw StoreFailure(sqlite: distrusted)
        }
        unsafe handle = ready
        unsafe logCount = .allocate(capacity: 1)
        unsafe logCount.initialize(to: 0)
        self.timeout = timeout
        setLockTimeout(timeout)
    }

    private func setLockTimeout(_ timeout: Duration) {
        unsafe sqlite3_busy_timeout(handle, timeout.millisecondsRoundedUp)
    }

    /// Runs `body` without waiting for locks that other connections hold.
    func withoutWaiting<Done>(
        _ body: () throws(StoreFailure) -> Done
    ) throws(StoreFailure) -> Done {
        setLockTimeout(.zero)
        defer { setLockTimeout(timeout) }
        return try body()
    }

    // SQLite frees the connection only after its last statement is finalised.
    deinit {
        unsafe sqlite3_wal_hook(handle, nil, nil)
        unsafe sqlite3_close_v2(handle)
        unsafe logCount.deallocate()
    }

    /// Runs the statements of a script and ignores the rows they return.
    func execute(_ script: String) throws(StoreFailure) {
        let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw StoreFailure(sqlite: code) }
    }

    /// Prepares one statement.
    ///
    /// - Parameter isKept: whether the statement will be reused often.
    func prepare(_ sql: String, isKept: Bool = false) throws(StoreFailure) -> SQLiteStatement {
        var made: OpaquePointer?
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &made, nil)
        guard code == SQLITE_OK, let ready = unsafe made else {
            throw StoreFailure(sqlite: code == SQLITE_OK ? SQLITE_ERROR : code)
        }
        return unsafe SQLiteStatement(owning: ready)
    }

    /// Whether the open file was deleted, moved or replaced.
    ///
    /// SQLite checks this with one `stat` call.
    var hasMoved: Bool {
        get throws(StoreFailure) {
            var moved: Int32 = 0
            let code = unsafe sqlite3_file_control(
                handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
            guard code == SQLITE_OK else { throw StoreFailure(sqlite: code) }
            return moved != 0
        }
    }

    /// - Throws: ``StoreFailure/moved`` if the open file was deleted, moved or replaced.
    func expectInPlace() throws(StoreFailure) { if try hasMoved { throw .moved } }

    /// Whether a transaction is open.
    ///
    /// Some failures end a transaction automatically.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Copies a snapshot of the whole database `source` into this one.
    ///
    /// Writers of `source` can continue: in WAL mode, a reader does not block writers.
    func copy(from source: borrowing SQLiteConnection) throws(StoreFailure) {
        guard let backup = unsafe sqlite3_backup_init(handle, "main", source.handle, "main") else {
            throw StoreFailure(sqlite: unsafe sqlite3_extended_errcode(handle))
        }
        let code = unsafe sqlite3_backup_step(backup, -1)
        let end = unsafe sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw StoreFailure(sqlite: end == SQLITE_OK ? code : end)
        }
    }
}

// Controls when the write-ahead log is checkpointed, in place of SQLite's automatic checkpoints.
extension SQLiteConnection {
    /// Starts counting the log's pages, and turns off SQLite's automatic checkpoints.
    func countLogPages() {
        unsafe sqlite3_wal_hook(
            handle,
            { count, _, _, pages in
                unsafe count?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, logCount)
    }

    /// The number of pages in the log after its last commit, by any process.
    var logLength: Int32 { unsafe logCount.pointee }

    enum CheckpointOutcome {
        case done
        /// Another connection is running a checkpoint.
        case busy
        case failed(StoreFailure)
        /// The disk did not confirm a write and may have dropped it.
        ///
        /// A retry could report success although the data is lost
        /// (https://wiki.postgresql.org/wiki/Fsync_Errors).
        case unconfirmed(StoreFailure)

        init(_ code: Int32) {
            let failure = StoreFailure(sqlite: code)
            self =
                switch code {
                case SQLITE_OK: .done
                // SQLITE_IOERR_FSYNC, a macro that Swift does not import.
                case SQLITE_IOERR | (4 << 8): .unconfirmed(failure)
                default: failure.kind == .busy ? .busy : .failed(failure)
                }
        }
    }

    /// Checkpoints all pages that no reader needs in the log, and waits for the disk.
    ///
    /// While a writer is active, SQLite counts pages as checkpointed before the disk confirms them;
    /// the connection that checkpoints the last page waits for the disk.
    func checkpoint() -> CheckpointOutcome {
        let code = unsafe sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK else { return CheckpointOutcome(code) }
        var file: UnsafeMutablePointer<sqlite3_file>?
        let found = unsafe sqlite3_file_control(
            handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard found == SQLITE_OK, let file = unsafe file,
            let sync = unsafe file.pointee.pMethods?.pointee.xSync
        else { return .failed(StoreFailure(sqlite: found)) }
        return CheckpointOutcome(unsafe sync(file, SQLITE_SYNC_NORMAL))
    }

    /// Keeps the log file if this is the last connection to close.
    func keepLog() {
        // Only versions before 3.16, which are not supported, refuse this call.
        _ = unsafe watchword_keep_log(handle)
    }
}

/// The failures of SQLite; they contain none of the data.
extension StoreFailure {
    /// Classifies SQLite's extended result code (https://sqlite.org/rescode.html) for the operator,
    /// and names the primary one, such as `SQLITE_FULL`.
    init(sqlite code: Int32) {
        let (kind, name): (FailureKind, String) =
            switch code & 0xff {
            case SQLITE_BUSY: (.busy, "SQLITE_BUSY")
            case SQLITE_LOCKED: (.busy, "SQLITE_LOCKED")
            case SQLITE_FULL: (.full, "SQLITE_FULL")
            case SQLITE_READONLY: (.readOnly, "SQLITE_READONLY")
            case SQLITE_PERM: (.readOnly, "SQLITE_PERM")
            case SQLITE_CORRUPT: (.damaged, "SQLITE_CORRUPT")
            case SQLITE_NOTADB: (.damaged, "SQLITE_NOTADB")
            // A violated constraint that no change's condition covers, or an invalid value.
            case SQLITE_CONSTRAINT: (.damaged, "SQLITE_CONSTRAINT")
            case SQLITE_MISMATCH, SQLITE_TOOBIG: (.damaged, "SQLITE_\(code & 0xff)")
            // A failing disk, and errors that SQLite does not distinguish from it: a quota, a file
            // size limit, a file system that became read-only.
            case SQLITE_CANTOPEN: (.unavailable, "SQLITE_CANTOPEN")
            case SQLITE_NOMEM: (.unavailable, "SQLITE_NOMEM")
            case SQLITE_IOERR: (.unavailable, "SQLITE_IOERR")
            default: (.unavailable, "SQLITE_\(code & 0xff)")
            }
        self.init(kind, code: name)
    }

    /// The file was deleted or moved away; anything written to it is lost.
    static let moved = StoreFailure(.unavailable, code: "file-gone")

    /// A row that this program cannot have written.
    ///
    /// The value equals the failure of a call that returned `SQLITE_CORRUPT`, and operators see the
    /// same code. The code that catches it only reads columns, so no call can have failed there.
    static let invalidRow = StoreFailure(sqlite: SQLITE_CORRUPT)

    /// The file system does not support shared memory between processes, which WAL mode needs.
    static let noWriteAheadLog = StoreFailure(sqlite: SQLITE_PROTOCOL)
}
