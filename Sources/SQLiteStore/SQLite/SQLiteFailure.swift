internal import CSQLite

/// A failed call into SQLite: the call and its extended result code, never the data it worked on.
public struct SQLiteFailure: Error, Hashable, Sendable {
    /// The kind of call.
    public enum Call: String, Hashable, Sendable {
        case open, execute, prepare, bind, step, read, backup, checkpoint
    }

    /// The call that failed.
    public let call: Call
    /// SQLite's extended result code (https://sqlite.org/rescode.html).
    public let code: Int32
    /// SQLite's name for the primary result code, such as `SQLITE_FULL`.
    public var name: String {
        switch code & 0xff {
        case SQLITE_BUSY: "SQLITE_BUSY"
        case SQLITE_LOCKED: "SQLITE_LOCKED"
        case SQLITE_FULL: "SQLITE_FULL"
        case SQLITE_READONLY: "SQLITE_READONLY"
        case SQLITE_CORRUPT: "SQLITE_CORRUPT"
        case SQLITE_NOTADB: "SQLITE_NOTADB"
        case SQLITE_CONSTRAINT: "SQLITE_CONSTRAINT"
        case SQLITE_CANTOPEN: "SQLITE_CANTOPEN"
        case SQLITE_PERM: "SQLITE_PERM"
        case SQLITE_NOMEM: "SQLITE_NOMEM"
        case SQLITE_IOERR: "SQLITE_IOERR"
        case SQLITE_MISUSE: "closed"
        case SQLITE_NOTFOUND: "file-gone"
        default: "SQLITE_\(code & 0xff)"
        }
    }

    static let closed = SQLiteFailure(call: .open, code: SQLITE_MISUSE)

    /// The file was deleted or moved away; anything written to it is lost.
    static let moved = SQLiteFailure(call: .open, code: SQLITE_NOTFOUND)

    /// A row that this program cannot have written.
    static let invalidRow = SQLiteFailure(call: .read, code: SQLITE_CORRUPT)

    /// OpenSSL failed while a row was checked.
    static let cryptography = SQLiteFailure(call: .read, code: SQLITE_ERROR)

    /// The file system does not support shared memory between processes, which WAL mode needs.
    static let noWriteAheadLog = SQLiteFailure(call: .open, code: SQLITE_PROTOCOL)

    /// Whether another connection held a lock for longer than the timeout.
    var isBusy: Bool { [SQLITE_BUSY, SQLITE_LOCKED].contains(code & 0xff) }

    /// Whether the disk did not confirm a write and may have dropped it.
    ///
    /// A retry could report success although the data is lost
    /// (https://wiki.postgresql.org/wiki/Fsync_Errors).
    var isUnconfirmed: Bool {
        // SQLITE_IOERR_FSYNC, a macro that Swift does not import.
        code == SQLITE_IOERR | (4 << 8)
    }

    /// Whether a uniqueness constraint was violated.
    var isUniqueness: Bool {
        // SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID, macros that Swift does not import.
        [6, 8, 10].map { SQLITE_CONSTRAINT | ($0 << 8) }.contains(code)
    }
}
