internal import CSQLite
internal import POSIX

/// An open database file; closes itself.
///
/// One thread at a time uses it; SQLite takes no lock of its own (`SQLITE_OPEN_NOMUTEX`).
@safe struct SQLiteConnection: ~Copyable {
    /// What a connection may do.
    enum Access {
        /// Read and write a file that is there.
        case readWrite
        /// Read a file that is there; the files beside it that WAL needs are written all the same.
        case readOnly

        fileprivate var flags: Int32 {
            switch self {
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        }
    }

    let handle: OpaquePointer
    /// How many pages were in the log behind the last commit, once ``countLog()`` was asked for.
    let logCount: UnsafeMutablePointer<Int32>

    /// Opens the file at `path`, which must be there.
    ///
    /// - Parameter timeout: how long to wait for a lock that another connection holds.
    init(path: String, _ access: Access, timeout: Duration) throws(SQLiteFailure) {
        let flags =
            access.flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let ready = unsafe opened else {
            // SQLite hands out a handle even when it fails.
            unsafe sqlite3_close_v2(opened)
            throw SQLiteFailure(call: .open, code: code)
        }
        unsafe handle = ready
        unsafe logCount = .allocate(capacity: 1)
        unsafe logCount.initialize(to: 0)
        setLockTimeout(timeout)
    }

    /// Sets how long a lock is waited for that somebody else holds.
    func setLockTimeout(_ timeout: Duration) {
        unsafe sqlite3_busy_timeout(handle, timeout.millisecondsRoundedUp)
    }

    // Statements that are still there keep the memory alive until they go.
    deinit {
        unsafe sqlite3_wal_hook(handle, nil, nil)
        unsafe sqlite3_close_v2(handle)
        unsafe logCount.deallocate()
    }

    /// Runs the statements of a script; rows that they give are passed over.
    func execute(_ script: String) throws(SQLiteFailure) {
        let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(call: .execute, code: code) }
    }

    /// Prepares one statement.
    ///
    /// - Parameter isKept: whether it will be used again and again.
    func prepare(_ sql: String, isKept: Bool = false) throws(SQLiteFailure) -> SQLiteStatement {
        var made: OpaquePointer?
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &made, nil)
        guard code == SQLITE_OK, let ready = unsafe made else {
            throw SQLiteFailure(call: .prepare, code: code == SQLITE_OK ? SQLITE_ERROR : code)
        }
        return unsafe SQLiteStatement(owning: ready)
    }

    /// Whether the file that was opened was deleted, moved away or replaced.
    ///
    /// SQLite asks the system, by one `stat`.
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

    /// Whether a transaction was begun and has not ended: some failures end one by themselves.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Copies the whole database of `source` into this one, as it is at one moment.
    ///
    /// Writers of `source` go on meanwhile: in WAL mode a reader stops nobody.
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
