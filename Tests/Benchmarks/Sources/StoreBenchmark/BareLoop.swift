import CSQLiteAlone
import Verification

/// The reference: a loop of the same conditional update of the same table, one per transaction,
/// with direct calls to SQLite and the same durability.
///
/// The loop has no key, so the rows are not authentic afterwards: no verifier may use them.
final class BareLoop {
    private let handle: OpaquePointer
    private let update: OpaquePointer
    private let rows: [CredentialRow]

    init?(path: String, rows: [CredentialRow]) {
        var opened: OpaquePointer?
        var prepared: OpaquePointer?
        let sql =
            "UPDATE credentials SET version = version + 1, body = ?1, authentication = zeroblob(16) "
            + "WHERE id = ?2 AND version < ?3"
        guard sqlite3_open(path, &opened) == SQLITE_OK, let handle = opened,
            sqlite3_exec(
                handle,
                "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA cache_size = -16384;"
                    + "PRAGMA busy_timeout = 5000", nil, nil, nil) == SQLITE_OK,
            sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) == SQLITE_OK, let update = prepared
        else { return nil }
        self.handle = handle
        self.update = update
        self.rows = rows
    }

    deinit {
        sqlite3_finalize(update)
        sqlite3_close(handle)
    }

    /// Makes one durable update; returns whether it changed a row.
    func step(_ number: Int) -> Bool {
        let row = rows[number % rows.count]
        return row.id.bytes.withUnsafeBytes { id in
            row.body.withUnsafeBytes { body in
                sqlite3_bind_blob(update, 1, body.baseAddress, Int32(body.count), nil)
                sqlite3_bind_blob(update, 2, id.baseAddress, Int32(id.count), nil)
                sqlite3_bind_int64(update, 3, .max)
                let code = sqlite3_step(update)
                sqlite3_reset(update)
                return code == SQLITE_DONE && sqlite3_changes(handle) == 1
            }
        }
    }
}
