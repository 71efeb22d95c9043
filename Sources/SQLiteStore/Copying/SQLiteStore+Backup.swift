internal import POSIX
public import Verification

extension SQLiteStore {
    /// Copies the database, as it is at one moment, to a new file at `path` (mode 0600).
    ///
    /// Others go on reading and writing. The copy holds sealed seeds and keyed digests, which are
    /// worth nothing without the keys; keep those elsewhere. It is no database to be opened: what is
    /// spent after it was made would be accepted again. ``restore(from:to:key:keepingClients:ended:now:trustingClock:)``
    /// makes one of it.
    ///
    /// - Throws: ``SQLiteStoreError/exists`` when there is something at `path`; nothing is left of a
    ///   copy that was not finished but a file with `.new` at the end of its name.
    public func backUp(to path: String, now: UnixTime) throws(SQLiteStoreError) {
        let target = DatabaseLocation(path)
        let folder = try target.openFolder(making: false)
        let aside = try target.makeAside(in: folder)
        let source = try location.openForReading()
        try aside.fill(from: source) { copy throws(SQLiteFailure) in
            // A copy is one file, whatever happens to it.
            try copy.connection.leaveWriteAheadLog()
            try copy.set(.backedUpAt, to: now.milliseconds, key: key)
        }
        try target.moveIntoPlace(aside, in: folder)
    }
}

// A new database grows under another name, and takes its own when it is whole.
extension DatabaseLocation {
    /// The place where a new file of this name grows.
    var aside: DatabaseLocation { DatabaseLocation("\(folder)/\(name).new") }

    /// Every name that SQLite gives its files beside the database.
    private var names: [String] { ["", "-wal", "-shm", "-journal"].map { name + $0 } }

    /// Makes an empty file to be filled, in the place of one that was left half filled.
    ///
    /// - Throws: ``SQLiteStoreError/exists`` when there is a database of this name, or something left
    ///   of one that SQLite would take for the new one's.
    func makeAside(in folder: borrowing Folder) throws(SQLiteStoreError) -> DatabaseLocation {
        for name in names {
            let isThere = try makingSystemError { () throws(SystemCallFailure) in
                try folder.holds(name)
            }
            guard !isThere else { throw .exists }
        }
        let aside = aside
        _ = try aside.isThere(in: folder)
        try makingSystemError { () throws(SystemCallFailure) in
            for name in aside.names { try folder.removeFile(name) }
            try folder.makePrivateFile(aside.name)
        }
        return aside
    }

    /// Copies `source` here, and lets `finish` make of the copy what it should be.
    func fill(
        from source: SQLiteSession,
        _ finish: (SQLiteSession) throws(SQLiteFailure) -> Void
    ) throws(SQLiteStoreError) {
        do throws(SQLiteFailure) {
            let connection = try SQLiteConnection(path: path, .readWrite, timeout: .seconds(2))
            try connection.copy(from: source.connection)
            let session = SQLiteSession(connection)
            try finish(session)
            let verdict = try session.connection.prepare("PRAGMA integrity_check(1)")
                .first { row throws(SQLiteFailure) in try row.requiredText() }
            guard verdict == "ok" else { throw .strangeRow }
        } catch {
            throw SQLiteStoreError(error)
        }
    }

    /// Gives the filled file its name.
    func moveIntoPlace(_ aside: DatabaseLocation, in folder: borrowing Folder)
        throws(SQLiteStoreError)
    {
        try makingSystemError { () throws(SystemCallFailure) in
            try folder.moveFile(aside.name, to: name)
        }
    }
}
