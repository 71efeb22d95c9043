internal import CSQLite
internal import Verification

extension StoreFailure {
    /// What SQLite's failure means to an operator.
    init(_ failure: SQLiteFailure) {
        let trouble: Trouble =
            switch failure.code & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .full
            case SQLITE_READONLY, SQLITE_PERM: .readOnly
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
            // A constraint that the conditions of a change do not cover, or rows that make no sense.
            case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: .damaged
            // A disk that fails, and what SQLite does not tell from it: a quota, a limit on the size
            // of files, a file system that became read-only.
            default: .unavailable
            }
        self.init(trouble, code: failure.name)
    }
}
