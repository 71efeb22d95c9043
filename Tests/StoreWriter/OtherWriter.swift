import CSQLite

/// Somebody else who has the database open, and can keep everybody from writing.
@safe final class OtherWriter: @unchecked Sendable {
    // Sendable by hand: one task uses it.
    private let handle: OpaquePointer

    init?(path: String) {
        var opened: OpaquePointer?
        guard unsafe sqlite3_open(path, &opened) == SQLITE_OK, let handle = unsafe opened,
            unsafe sqlite3_exec(handle, "PRAGMA busy_timeout = 5000", nil, nil, nil) == SQLITE_OK
        else { return nil }
        unsafe self.handle = handle
    }

    deinit { unsafe sqlite3_close(handle) }

    /// Keeps others from writing; whether that worked.
    func lock() -> Bool {
        unsafe sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK
    }

    /// Lets others write again.
    func unlock() -> Bool { unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) == SQLITE_OK }
}
