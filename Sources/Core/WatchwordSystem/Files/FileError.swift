internal import Glibc

/// Why a file or folder was not read, locked or written.
public enum FileError: SystemCallError, Hashable, Sendable {
    // What is at the path.
    /// The file does not exist.
    case missing
    /// The folder of a file that is to be written does not exist.
    case noFolder
    /// This user is not permitted to read it.
    case forbidden
    /// A file with this name already exists.
    case exists
    /// The path leads to a folder.
    case folder
    /// A file is to be written, and its path is a folder.
    case namesFolder
    /// The path is a symbolic link, which is neither followed nor replaced.
    case symbolicLink
    /// The path leads to a device or a socket, which may have no end, or to a pipe.
    case notAFile
    /// A file is to be written, and its path is a device, a pipe or a socket.
    case notReplaceable
    /// The path leads to a pipe, but a file is required.
    case pipe
    /// The file begins like a protected file, which is never replaced.
    case protected

    // The content and the name of a file that the user named.
    /// It is empty.
    case empty
    /// The file is larger than this many bytes.
    case tooLarge(limit: Int)
    /// The file is UTF-16 text, but UTF-8 is required.
    case utf16
    /// The file's name is not UTF-8, so it cannot be shown.
    case nameNotUTF8
    /// The file is nested in more folders than are searched.
    case tooDeep

    // The program's own files and folders, which only their owner may access.
    /// It belongs to the user with this number, not to this process's user.
    case otherOwner(UInt32)
    /// Other users can read or write it; these are its permission bits.
    case openToOthers(mode: UInt32)
    /// Another process held the lock until the timeout.
    case busy
    /// A required name belongs to an unrelated file or folder, or to one that other users can
    /// change. Nothing with this name was changed.
    case inTheWay(name: String)
    /// Another program replaced the file after it was read. That program's file is kept, and the
    /// new one is discarded.
    case changed
    /// The new file is in place, but the system did not confirm that its name is on disk.
    case notConfirmed(SystemCallFailure)

    /// A system call failed; an existing file is unchanged.
    case system(SystemCallFailure)
}

extension FileError {
    /// The error for a call that failed on a file that the user named, for reading.
    public init(reading failure: SystemCallFailure) {
        self =
            switch failure.number {
            case ENOENT, ENOTDIR: .missing
            case EACCES, EPERM: .forbidden
            case EISDIR: .folder
            case ENXIO: .notAFile
            default: .system(failure)
            }
    }

    /// The error for a call that failed on a file that the user named, for writing.
    init(writing failure: SystemCallFailure) {
        self =
            switch failure.number {
            case EEXIST: .exists
            case EISDIR: .namesFolder
            case ENOENT, ENOTDIR: .noFolder
            default: .system(failure)
            }
    }

    /// The error for one of the program's own files that could not be opened.
    init(openingPrivate failure: SystemCallFailure) {
        self =
            switch failure.number {
            case ENOENT: .missing
            case ELOOP: .symbolicLink
            case EISDIR: .folder
            case ENXIO: .notAFile
            default: .system(failure)
            }
    }
}

// Converts the failure of a system call.
extension FileError {
    /// The call waits until the change is on disk.
    static func confirming(
        _ call: @autoclosure () throws(SystemCallFailure) -> Void
    ) throws(FileError) {
        do { try call() } catch { throw .notConfirmed(error) }
    }

    /// The call is made on a file that the user named, for reading.
    static func reading<Result: ~Copyable>(
        _ call: @autoclosure () throws(SystemCallFailure) -> Result
    ) throws(FileError) -> Result {
        do { return try call() } catch { throw FileError(reading: error) }
    }

    /// The call is made on a file that the user named, for writing.
    static func writing<Result: ~Copyable>(
        _ call: @autoclosure () throws(SystemCallFailure) -> Result
    ) throws(FileError) -> Result {
        do { return try call() } catch { throw FileError(writing: error) }
    }
}
