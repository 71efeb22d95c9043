internal import POSIX

/// Where a database lies, and the names beside it.
struct DatabaseLocation: Sendable {
    let folder: String
    let name: String

    init(_ path: String) { (folder, name) = OutputFile.split(path) }

    /// The path as SQLite takes it: with a folder in front it is never read as a URI.
    var path: String { "\(folder)/\(name)" }
    /// The mark of the chain's end.
    var markName: String { name + ".mark" }

    /// Opens the folder, which nobody else may change.
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

    /// Tells whether the database's file is there, and refuses one that is not its owner's alone.
    func isThere(in folder: borrowing Folder) throws(SQLiteStoreError) -> Bool {
        do { return try folder.holdsPrivateFile(name) } catch { throw .notPrivate(error) }
    }

    /// Holds the lock under which the file is made, changed in form, or put in its place.
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
        do throws(FileLockError) {
            return try FileLock(name + ".lock", in: folder, timeout: timeout)
        } catch {
            switch error {
            case .busy: throw .busy
            case .system(let failure): throw .system(failure)
            }
        }
    }
}

/// Makes what a system call throws this target's error.
func makingSystemError<Result: ~Copyable>(
    _ body: () throws(SystemCallFailure) -> Result
) throws(SQLiteStoreError) -> Result {
    do { return try body() } catch { throw .system(error) }
}
