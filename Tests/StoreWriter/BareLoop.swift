import CSQLite
import StoreContract
import Verification

/// The peer: the same conditional update of the same table, one a transaction, by SQLite's own calls
/// in a loop.
@safe final class BareLoop: @unchecked Sendable {
    // Sendable by hand: one task at a time makes its steps.

    private let handle: OpaquePointer
    private let update: OpaquePointer

    init?(path: String) {
        var opened: OpaquePointer?
        let sql =
            "UPDATE credentials SET version = version + 1, body = ?1 WHERE id = ?2 "
            + "AND version < ?3"
        guard unsafe sqlite3_open(path, &opened) == SQLITE_OK, let handle = unsafe opened,
            unsafe sqlite3_exec(
                handle, "PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000", nil, nil, nil)
                == SQLITE_OK
        else { return nil }
        var prepared: OpaquePointer?
        unsafe sqlite3_prepare_v2(handle, sql, -1, &prepared, nil)
        guard let update = unsafe prepared else { return nil }
        unsafe self.handle = handle
        unsafe self.update = update
    }

    deinit {
        unsafe sqlite3_finalize(update)
        unsafe sqlite3_close(handle)
    }

    /// Keeps others from writing; whether that worked.
    func lock() -> Bool {
        unsafe sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK
    }

    /// Lets others write again.
    func unlock() -> Bool { unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) == SQLITE_OK }

    /// One durable update; whether a row was changed.
    func step(_ id: CredentialID, body: [UInt8]) -> Bool {
        unsafe id.bytes.withUnsafeBytes { id in
            unsafe body.withUnsafeBytes { body in
                unsafe sqlite3_bind_blob(update, 1, body.baseAddress, Int32(body.count), nil)
                unsafe sqlite3_bind_blob(update, 2, id.baseAddress, Int32(id.count), nil)
                unsafe sqlite3_bind_int64(update, 3, .max)
                let code = unsafe sqlite3_step(update)
                unsafe sqlite3_reset(update)
                return unsafe code == SQLITE_DONE && sqlite3_changes(handle) == 1
            }
        }
    }
}
