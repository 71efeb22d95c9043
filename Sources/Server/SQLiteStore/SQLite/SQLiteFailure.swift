internal import CSQLite
internal import Verification
internal import WatchwordCryptography

/// A failed call into SQLite, or a failed check of what it returned; it contains none of the data.
struct SQLiteFailure: RowFailure {
    /// The kind of call.
    enum Call: String {
        case open, execute, prepare, bind, step, read, backup, checkpoint
    }

    /// The call that failed.
    let call: Call
    /// SQLite's extended result code (https://sqlite.org/rescode.html).
    let code: Int32
    /// SQLite's name for the primary result code, such as `SQLITE_FULL`, or this program's own name
    /// for a failed check.
    let name: String

    init(call: Call, code: Int32, name: String? = nil) {
        self.call = call
        self.code = code
        self.name = name ?? Self.name(of: code)
    }

    private static func name(of code: Int32) -> String {
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
        default: "SQLITE_\(code & 0xff)"
        }
    }

    static let closed = SQLiteFailure(call: .open, code: SQLITE_MISUSE, name: "closed")

    /// The file was deleted or moved away; anything written to it is lost.
    static let moved = SQLiteFailure(call: .open, code: SQLITE_NOTFOUND, name: "file-gone")

    /// A row that this program cannot have written.
    static let invalidRow = SQLiteFailure(call: .read, code: SQLITE_CORRUPT)

    /// A row that is authentic, but that the verifier cannot have written.
    static let row = SQLiteFailure(call: .read, code: SQLITE_CORRUPT, name: "row")

    /// The chain's stored end is not the one that was written.
    static let chain = SQLiteFailure(call: .read, code: SQLITE_CORRUPT, name: "chain")

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

extension StoreFailure {
    /// Classifies SQLite's failure for the operator.
    init(_ failure: SQLiteFailure) {
        let kind: FailureKind =
            switch failure.code & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .full
            case SQLITE_READONLY, SQLITE_PERM: .readOnly
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
            // A violated constraint that no change's condition covers, or an invalid value.
            case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: .damaged
            // A failing disk, and errors that SQLite does not distinguish from it: a quota, a file
            // size limit, a file system that became read-only.
            default: .unavailable
            }
        self.init(kind, code: failure.name)
    }
}
