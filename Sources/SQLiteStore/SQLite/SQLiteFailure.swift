internal import CSQLite

/// A call into SQLite that failed: which one and with which extended code, never what it worked on.
public struct SQLiteFailure: Error, Hashable, Sendable {
    /// What was being asked of SQLite.
    public enum Call: String, Hashable, Sendable {
        case open, execute, prepare, bind, step, read, backup, checkpoint
    }

    /// The call that failed.
    public let call: Call
    /// SQLite's extended result code (https://sqlite.org/rescode.html).
    public let code: Int32
    /// SQLite's name for the kind of failure, such as `SQLITE_FULL`.
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

    /// The store was closed.
    static let closed = SQLiteFailure(call: .open, code: SQLITE_MISUSE)

    /// The file was deleted or moved away, and what is written to it is lost.
    static let moved = SQLiteFailure(call: .open, code: SQLITE_NOTFOUND)

    /// A row that SQLite gave and that is none of ours.
    static let strangeRow = SQLiteFailure(call: .read, code: SQLITE_CORRUPT)

    /// OpenSSL could not check a row.
    static let cryptography = SQLiteFailure(call: .read, code: SQLITE_ERROR)

    /// A file system on which processes can't share memory, as WAL needs.
    static let noWriteAheadLog = SQLiteFailure(call: .open, code: SQLITE_PROTOCOL)

    /// Whether somebody else held a lock for longer than was waited.
    var isBusy: Bool { [SQLITE_BUSY, SQLITE_LOCKED].contains(code & 0xff) }

    /// Whether the disk did not confirm what was written, and may have dropped it: another try would be
    /// told that all is well (https://wiki.postgresql.org/wiki/Fsync_Errors).
    var isUnconfirmed: Bool {
        // SQLITE_IOERR_FSYNC, a macro that Swift does not import.
        code == SQLITE_IOERR | (4 << 8)
    }

    /// Whether a value that must be unique was there already.
    var isUniqueness: Bool {
        // SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID, macros that Swift does not import.
        [6, 8, 10].map { SQLITE_CONSTRAINT | ($0 << 8) }.contains(code)
    }
}
