public import Verification
public import WatchwordSystem

/// Why a database cannot be opened, created or copied.
public enum SQLiteStoreError: Error, Hashable, Sendable {
    /// Other users can change the files in its folder.
    case exposed(FolderExposure)
    /// The file is not a regular file, or not private to its owner.
    case notPrivate(FileError)
    /// The file is another program's database, or not a database.
    case foreignFile
    /// A newer version of this program created it; `schema` is its schema version.
    case newer(schema: Int64)
    /// Somebody added, changed or removed a table, an index, a trigger or a view.
    ///
    /// The name is as stored in the file; make it visible before you show it.
    case changedSchema(object: String)
    /// The file is a backup.
    ///
    /// It must be restored first, which ends everything that may have been spent since.
    case isBackup
    /// The database was rolled back to an earlier state: events that its checkpoint covers are
    /// missing.
    case rolledBack
    /// The clock is behind the newest time recorded in the copy, which is the associated value.
    case clockBehind(UnixTime)
    /// The checkpoint beside the database is not authentic or cannot be read.
    case damagedCheckpoint
    /// The file to be created already exists.
    case exists
    /// Another process held the lock for longer than the timeout.
    case busy
    /// A system call failed.
    case system(SystemCallFailure)
    /// The database reported an error.
    case store(StoreFailure)
}

extension SQLiteStoreError {
    init(_ failure: SQLiteFailure) { self = .store(StoreFailure(failure)) }
}

/// Converts an SQLite failure to an error of opening, creating or copying.
func opening<Result>(
    _ body: () throws(SQLiteFailure) -> Result
) throws(SQLiteStoreError) -> Result {
    do { return try body() } catch { throw SQLiteStoreError(error) }
}
