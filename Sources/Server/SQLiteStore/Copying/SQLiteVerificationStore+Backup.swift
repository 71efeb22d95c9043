public import Verification
internal import WatchwordSystem

extension SQLiteVerificationStore {
    /// Copies a snapshot of the database to a new file at `path` (mode 0600).
    ///
    /// Other connections can keep reading and writing. The copy contains sealed seeds and keyed
    /// digests, which are useless without the keys; store the keys elsewhere. The copy must not be
    /// opened as a database: it would again accept codes and secrets that were spent after the
    /// backup. ``restore(from:to:key:keepingClients:ended:now:trustingClock:)`` turns it into a
    /// database.
    ///
    /// - Throws: ``SQLiteStoreError/changedSchema(object:)`` if another program changed the schema;
    ///   ``SQLiteStoreError/exists`` if something exists at `path`. An unfinished copy
    ///   leaves only a file whose name ends in `.new`.
    public func backUp(to path: String, now: UnixTime) throws(SQLiteStoreError) {
        let target = DatabaseLocation(path)
        let folder = try target.openFolder(making: false)
        let aside = try target.makeTemporary(in: folder)
        let source = try location.openForReading()
        _ = try source.connection.requireOwnFile()
        try aside.fill(from: source) { copy throws(SQLiteFailure) in
            // The copy must be a single file, without a write-ahead log beside it.
            try copy.connection.leaveWriteAheadLog()
            try copy.set(.backedUpAt, to: now.milliseconds, key: key)
        }
        try target.moveIntoPlace(aside, in: folder)
    }
}

// A new database is written under a temporary name and renamed once it is complete.
extension DatabaseLocation {
    /// The temporary location of a new file of this name.
    var aside: DatabaseLocation { DatabaseLocation("\(folder)/\(name).new") }

    /// The names of the database and of all files that SQLite may create beside it.
    private var names: [String] { ["", "-wal", "-shm", "-journal"].map { name + $0 } }

    /// Creates an empty temporary file, replacing any that an unfinished attempt left behind.
    ///
    /// - Throws: ``SQLiteStoreError/exists`` if there is a database with this name, or a leftover
    ///   file that SQLite would treat as part of the new database.
    func makeTemporary(in folder: borrowing Folder) throws(SQLiteStoreError) -> DatabaseLocation {
        for name in names {
            let exists = try makingSystemError { () throws(SystemCallFailure) in
                try folder.holds(name)
            }
            guard !exists else { throw .exists }
        }
        let aside = aside
        _ = try aside.exists(in: folder)
        try makingSystemError { () throws(SystemCallFailure) in
            for name in aside.names { try folder.removeFile(name) }
            try folder.makePrivateFile(aside.name)
        }
        return aside
    }

    /// Copies `source` to this location, then calls `finish` on the copy and checks its structure.
    func fill(
        from source: SQLiteSession,
        _ finish: (SQLiteSession) throws(SQLiteFailure) -> Void
    ) throws(SQLiteStoreError) {
        try opening { () throws(SQLiteFailure) in
            let connection = try SQLiteConnection(path: path, .readWrite, timeout: .seconds(2))
            try connection.copy(from: source.connection)
            let session = SQLiteSession(connection)
            try finish(session)
            let verdict = try session.connection.prepare("PRAGMA integrity_check(1)")
                .first { row throws(SQLiteFailure) in try row.requiredText() }
            guard verdict == "ok" else { throw .invalidRow }
        }
    }

    /// Renames the complete file to its final name.
    func moveIntoPlace(_ aside: DatabaseLocation, in folder: borrowing Folder)
        throws(SQLiteStoreError)
    {
        try makingSystemError { () throws(SystemCallFailure) in
            try folder.moveFile(aside.name, to: name)
        }
    }
}
