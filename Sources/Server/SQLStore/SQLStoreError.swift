public import Verification
public import WatchwordSystem

/// Why a database cannot be opened, created, copied or recovered.
public enum SQLStoreError: SystemCallError, Hashable, Sendable {
    /// Other users can change the files in the folder of an SQLite database.
    case exposed(FolderExposure)
    /// The SQLite file is not a regular file, or not private to its owner.
    case notPrivate(FileError)
    /// The SQLite file is a different program's database, or not a database.
    case foreignFile
    /// No connection to PostgreSQL could be opened.
    ///
    /// The message is libpq's: hosts, ports and roles, never a password.
    case unreachable(String)
    /// The encoding of the PostgreSQL database is not UTF-8.
    case notUTF8
    /// The PostgreSQL database does not contain the tables.
    case empty
    /// A newer version of this program created the tables; `schema` is their schema version.
    case newer(schema: Int)
    /// An object in the schema that acts on the statements was added, changed or removed.
    ///
    /// `object` is the object's name as stored in the database, preceded in PostgreSQL by its kind.
    /// Escape the name before you display it.
    case changedSchema(object: String)
    /// The SQLite file is a backup.
    ///
    /// Restore the backup first: the restore invalidates all codes and secrets that may have been
    /// spent since.
    case isBackup
    /// Events that were acknowledged, or that the checkpoint covers, are missing.
    ///
    /// The database was rolled back to an earlier state, or a standby without the last commits took
    /// over.
    case rolledBack
    /// The clock is behind the newest time recorded in the database (the associated value).
    case clockBehind(UnixTime)
    /// The checkpoint beside an SQLite database is not authentic or cannot be read.
    case damagedCheckpoint
    /// A stored end of a chain in a PostgreSQL database is not authentic.
    case forgedCheckpoint
    /// The file to be created already exists.
    case exists
    /// Another process held the lock for longer than the timeout.
    case busy
    /// A system call failed; the value contains its name and its code.
    case system(SystemCallFailure)
    /// The database reported an error.
    case store(StoreFailure)
}

extension SQLStoreError {
    /// Converts the failure of a call to an open database.
    package static func store<Result: ~Copyable>(
        in call: @autoclosure () throws(StoreFailure) -> Result
    ) throws(SQLStoreError) -> Result {
        do { return try call() } catch {
            // A PostgreSQL session found that acknowledged events are missing.
            throw error == .behind ? .rolledBack : .store(error)
        }
    }
}

// The failures that both stores detect themselves.
extension StoreFailure {
    package static let closed = StoreFailure(.unavailable, code: "closed")
    /// The system cannot create a thread.
    package static let noThread = StoreFailure(.unavailable, code: "thread")
    /// A row that is authentic, but that the verifier cannot have written.
    package static let row = StoreFailure(.damaged, code: "row")
    /// The stored end of the chain differs from the written one.
    package static let chain = StoreFailure(.damaged, code: "chain")
    /// The database lacks events that it had acknowledged.
    package static let behind = StoreFailure(.damaged, code: "behind")
}
