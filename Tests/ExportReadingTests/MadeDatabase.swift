import CSQLite

/// A database that SQLite writes for a test.
enum MadeDatabase {
    struct Failure: Error {
        let message: String
    }

    /// The file that `script` makes.
    static func file(_ script: String) throws -> [UInt8] {
        var opened: OpaquePointer?
        _ = unsafe sqlite3_open(":memory:", &opened)
        defer { unsafe sqlite3_close(opened) }
        guard unsafe sqlite3_exec(opened, script, nil, nil, nil) == SQLITE_OK else {
            throw Failure(message: unsafe String(cString: sqlite3_errmsg(opened)))
        }
        var count: sqlite3_int64 = 0
        guard let start = unsafe sqlite3_serialize(opened, "main", &count, 0) else {
            throw Failure(message: "cannot serialise")
        }
        defer { unsafe sqlite3_free(start) }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}
