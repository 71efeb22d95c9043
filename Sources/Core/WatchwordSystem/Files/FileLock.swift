internal import Glibc

/// A lock on a separate file, held during the value's lifetime.
///
/// The kernel releases it when the process dies, so a killed writer blocks no other process.
public struct FileLock: ~Copyable, Sendable {
    private let descriptor: FileDescriptor

    /// The time between two attempts.
    private static let pause = Duration.milliseconds(20)

    /// The call that fails while another process holds the lock.
    public static let busyFailure = SystemCallFailure(call: "flock", number: EWOULDBLOCK)

    /// Creates the file `name` in `folder` if it does not exist, and locks it.
    ///
    /// If somebody may remove the file, ``isHeld(as:in:)`` must follow: otherwise two processes
    /// could lock two different files.
    ///
    /// - Parameters:
    ///   - sharing: whether to acquire a shared lock; an exclusive lock has only one holder.
    ///   - timeout: how long to wait while another process holds the lock.
    public init(
        _ name: String, in folder: borrowing Folder, sharing: Bool = false, timeout: Duration
    ) throws(FileError) {
        descriptor = try FileLock.take(
            name, in: folder, operation: sharing ? LOCK_SH : LOCK_EX, timeout: timeout)
    }

    /// Whether the locked file still has this name.
    ///
    /// Otherwise the file was removed or replaced, and another process can hold the lock as well.
    public func isHeld(
        as name: String, in folder: borrowing Folder
    ) throws(SystemCallFailure) -> Bool {
        guard let facts = try folder.facts(of: name) else { return false }
        let own = try descriptor.facts()
        return facts.st_dev == own.st_dev && facts.st_ino == own.st_ino
    }

    private static func take(
        _ name: String, in folder: borrowing Folder, operation: Int32, timeout: Duration
    ) throws(FileError) -> FileDescriptor {
        let file = try FileError.system(in: FileLock.open(name, in: folder))
        // The kernel has no call that waits for a lock with a timeout.
        var waited = Duration.zero
        while flock(file.number, operation | LOCK_NB) != 0 {
            let number = errno
            guard number == EWOULDBLOCK || number == EINTR else {
                throw .system(SystemCallFailure(call: "flock", number: number))
            }
            guard waited < timeout else { throw .busy }
            usleep(UInt32(pause.millisecondsRoundedUp) * 1000)
            waited += pause
        }
        return file
    }

    private static func open(_ name: String, in folder: borrowing Folder)
        throws(SystemCallFailure) -> FileDescriptor
    {
        let found = try SystemCallFailure.nilIf(\.isMissingFile, folder.open(name, O_RDWR))
        if let found { return found }
        let made = try SystemCallFailure.nilIf(\.isAlreadyExists, folder.make(name))
        if let made { return made }
        // Another process has just created it.
        return try folder.open(name, O_RDWR)
    }
}
