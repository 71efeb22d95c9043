internal import Glibc

/// Why one of the program's own files or folders, which only their owner may access, was not read,
/// locked or replaced.
public enum PrivateFileError: Error, Hashable, Sendable {
    // Reading.
    /// The file does not exist.
    case missing
    /// It is a folder.
    case folder
    /// It is a symbolic link, which is not followed.
    case symbolicLink
    /// It is a device, a pipe or a socket.
    case notAFile
    /// It belongs to the user with this number, not to this process's user.
    case otherOwner(UInt32)
    /// Other users can read or write it; these are its permission bits.
    case openToOthers(mode: UInt32)
    /// It is larger than this many bytes.
    case tooLarge(limit: Int)

    // Locking and writing.
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

    init(opening failure: SystemCallFailure) {
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
