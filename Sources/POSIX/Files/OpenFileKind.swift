internal import Glibc

/// The kind of an open file, for reading.
public enum OpenFileKind: Hashable, Sendable {
    /// A regular file with its current size in bytes.
    case file(size: Int)
    case folder
    /// A pipe or a named pipe.
    case pipe
    /// A device, a terminal or a socket.
    case other
}

extension FileDescriptor {
    /// The kind of the open file.
    public func kind() throws(SystemCallFailure) -> OpenFileKind {
        var facts = stat()
        guard unsafe fstat(number, &facts) == 0 else {
            throw SystemCallFailure(call: "fstat", number: errno)
        }
        return switch facts.st_mode & S_IFMT {
        case S_IFREG: .file(size: Int(facts.st_size))
        case S_IFDIR: .folder
        case S_IFIFO: .pipe
        default: .other
        }
    }
}
