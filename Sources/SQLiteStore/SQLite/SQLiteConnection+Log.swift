internal import CSQLite

// How the write-ahead log gets into the file, where SQLite is not left to it.
extension SQLiteConnection {
    /// Counts the log's pages from now on; SQLite itself takes none of them into the file any more.
    func countLog() {
        unsafe sqlite3_wal_hook(
            handle,
            { count, _, _, pages in
                unsafe count?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, logCount)
    }

    /// The pages in the log behind its last commit, whoever wrote them.
    var logLength: Int32 { unsafe logCount.pointee }

    /// Takes of the log into the file what no reader needs it for, and waits for the disk.
    ///
    /// Beside a writer SQLite counts pages as taken in without waiting for the disk, and leaves that
    /// to whoever takes in the last one.
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

    /// Leaves the log as it is when this connection closes and is the last.
    func keepLog() {
        // It is refused by versions before 3.16 alone, which are not supported.
        _ = unsafe watchword_keep_log(handle)
    }
}
