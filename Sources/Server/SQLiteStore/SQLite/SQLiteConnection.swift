internal import CSQLite
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
    init(path: String, _ access: Access, timeout: Duration) throws(SQLiteFailure) {
        let flags =
            access.flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let ready = unsafe opened else {
            // SQLite returns a handle even when it fails.
            unsafe sqlite3_close_v2(opened)
            throw SQLiteFailure(call: .open, code: code)
        }
        // Whoever can write the file can add triggers and views; none of ours needs them.
        let distrusted = unsafe watchword_distrust(ready)
        guard distrusted == SQLITE_OK else {
            unsafe sqlite3_close_v2(ready)
            throw SQLiteFailure(call: .open, code: distrusted)
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
        _ body: () throws(SQLiteFailure) -> Done
    ) throws(SQLiteFailure) -> Done {
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
    func execute(_ script: String) throws(SQLiteFailure) {
        let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(call: .execute, code: code) }
    }

    /// Prepares one statement.
    ///
    /// - Parameter isKept: whether the statement will be reused often.
    func prepare(_ sql: String, isKept: Bool = false) throws(SQLiteFailure) -> SQLiteStatement {
        var made: OpaquePointer?
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &made, nil)
        guard code == SQLITE_OK, let ready = unsafe made else {
            throw SQLiteFailure(call: .prepare, code: code == SQLITE_OK ? SQLITE_ERROR : code)
        }
        return unsafe SQLiteStatement(owning: ready)
    }

    /// Whether the open file was deleted, moved or replaced.
    ///
    /// SQLite checks this with one `stat` call.
    var hasMoved: Bool {
        get throws(SQLiteFailure) {
            var moved: Int32 = 0
            let code = unsafe sqlite3_file_control(
                handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
            guard code == SQLITE_OK else { throw SQLiteFailure(call: .open, code: code) }
            return moved != 0
        }
    }

    /// - Throws: ``SQLiteFailure/moved``.
    func expectInPlace() throws(SQLiteFailure) { if try hasMoved { throw .moved } }

    /// Whether a transaction is open.
    ///
    /// Some failures end a transaction automatically.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Copies a snapshot of the whole database `source` into this one.
    ///
    /// Writers of `source` can continue: in WAL mode, a reader does not block writers.
    func copy(from source: borrowing SQLiteConnection) throws(SQLiteFailure) {
        guard let backup = unsafe sqlite3_backup_init(handle, "main", source.handle, "main") else {
            throw SQLiteFailure(call: .backup, code: unsafe sqlite3_extended_errcode(handle))
        }
        let code = unsafe sqlite3_backup_step(backup, -1)
        let end = unsafe sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw SQLiteFailure(call: .backup, code: end == SQLITE_OK ? code : end)
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

    /// Checkpoints all pages that no reader needs in the log, and waits for the disk.
    ///
    /// While a writer is active, SQLite counts pages as checkpointed before the disk confirms them;
    /// the connection that checkpoints the last page waits for the disk.
    func checkpoint() throws(SQLiteFailure) {
        let code = unsafe sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(call: .checkpoint, code: code) }
        var file: UnsafeMutablePointer<sqlite3_file>?
        let found = unsafe sqlite3_file_control(
            handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard found == SQLITE_OK, let file = unsafe file,
            let sync = unsafe file.pointee.pMethods?.pointee.xSync
        else { throw SQLiteFailure(call: .checkpoint, code: found) }
        let synced = unsafe sync(file, SQLITE_SYNC_NORMAL)
        guard synced == SQLITE_OK else { throw SQLiteFailure(call: .checkpoint, code: synced) }
    }

    /// Keeps the log file if this is the last connection to close.
    func keepLog() {
        // Only versions before 3.16, which are not supported, refuse this call.
        _ = unsafe watchword_keep_log(handle)
    }
}
