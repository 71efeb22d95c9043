internal import Glibc

/// What an open file is, as far as reading from it goes.
public enum OpenFileKind: Hashable, Sendable {
    /// A regular file with so many bytes at the moment.
    case file(size: Int)
    case folder
    /// A pipe or a named pipe.
    case pipe
    /// A device, a terminal or a socket.
    case other
}

extension FileDescriptor {
    /// Tells what is open.
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
