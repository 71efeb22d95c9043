internal import CSQLite
internal import Verification

extension StoreFailure {
    /// Classifies SQLite's failure for the operator.
    init(_ failure: SQLiteFailure) {
        let kind: FailureKind =
            switch failure.code & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .full
            case SQLITE_READONLY, SQLITE_PERM: .readOnly
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
            // A violated constraint that no change's condition covers, or rows that make no sense.
            case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: .damaged
            // A failing disk, and errors that SQLite does not distinguish from it: a quota, a file
            // size limit, a file system that became read-only.
            default: .unavailable
            }
        self.init(kind, code: failure.name)
    }
}
