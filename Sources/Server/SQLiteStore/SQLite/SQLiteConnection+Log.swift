internal import CSQLite

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
