internal import WatchwordSystem

/// The path of a database, and the names of the files beside it.
struct DatabaseLocation: Sendable {
    let folder: String
    let name: String

    init(_ path: String) { (folder, name) = OutputFile.split(path) }

    /// The path for SQLite.
    ///
    /// It always contains a folder, so that SQLite never parses it as a URI.
    var path: String { "\(folder)/\(name)" }
    /// The file that stores the checkpoint of the chain's end.
    var checkpointName: String { name + ".mark" }

    /// Opens the folder, and refuses one that other users can change.
    func openFolder(making: Bool) throws(SQLiteStoreError) -> Folder {
        let opened = try makingSystemError { () throws(SystemCallFailure) in
            if making { try Folder.make(folder) }
            return try Folder(opening: folder)
        }
        let exposure = try makingSystemError { () throws(SystemCallFailure) in
            try opened.exposure()
        }
        if let exposure { throw .exposed(exposure) }
        return opened
    }

    /// Returns whether the database file exists, and refuses one that other users can access.
    func exists(in folder: borrowing Folder) throws(SQLiteStoreError) -> Bool {
        do { return try folder.holdsPrivateFile(name) } catch { throw .notPrivate(error) }
    }

    /// Holds the lock under which the file is created, migrated or replaced.
    func locked<Result: ~Copyable>(
        in folder: borrowing Folder, timeout: Duration,
        _ body: () throws(SQLiteStoreError) -> Result
    ) throws(SQLiteStoreError) -> Result {
        let lock = try takeLock(in: folder, timeout: timeout)
        let result = try body()
        withExtendedLifetime(lock) {}
        return result
    }

    private func takeLock(in folder: borrowing Folder, timeout: Duration)
        throws(SQLiteStoreError) -> FileLock
    {
        do throws(FileError) {
            return try FileLock(name + ".lock", in: folder, timeout: timeout)
        } catch {
            throw SQLiteStoreError(writing: error)
        }
    }
}

/// Converts a system call's failure to this module's error.
func makingSystemError<Result: ~Copyable>(
    _ body: () throws(SystemCallFailure) -> Result
) throws(SQLiteStoreError) -> Result {
    do { return try body() } catch { throw .system(error) }
}

extension SQLiteStoreError {
    /// The error for a file beside the database that could not be locked or written.
    init(writing error: FileError) {
        self =
            switch error {
            case .busy: .busy
            case .system(let failure), .notConfirmed(let failure): .system(failure)
            default: .exists
            }
    }
}
