internal import Glibc

/// A system call that failed: its name and its error number, never what it worked on.
public struct SystemCallFailure: Error, Hashable, Sendable {
    /// The call's name as its manual page has it.
    public let call: String
    /// The error number (`errno`).
    public let number: Int32

    /// Names the call that failed with `number`.
    public init(call: String, number: Int32) {
        self.call = call
        self.number = number
    }

    /// What the C library says of the number, such as “No space left on device”.
    public var reason: String { unsafe String(cString: strerror(number)) }

    /// Whether it says that there is no such file.
    public var isMissingFile: Bool { number == ENOENT }
}

extension SystemCallFailure {
    /// Whether there is nothing at the path, or something on the way to it is no folder.
    public var meansMissing: Bool { number == ENOENT || number == ENOTDIR }
}

extension SystemCallFailure {
    /// Whether the reader at the other end went away.
    public var isBrokenPipe: Bool { number == EPIPE }

    /// Whether this user may not.
    public var meansForbidden: Bool { number == EACCES || number == EPERM }

    /// Whether nothing can be written there: a read-only file system, or no permission.
    public var meansReadOnly: Bool { number == EROFS || meansForbidden }

    /// Whether what was read is a folder.
    public var meansFolder: Bool { number == EISDIR }
}
