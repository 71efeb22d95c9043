internal import Glibc

/// Why a file that the user named was not read.
public enum InputFileError: Error, Hashable, Sendable {
    /// The file does not exist.
    case missing
    /// This user is not permitted to read it.
    case forbidden
    /// It is a folder.
    case folder
    /// It is a device or a socket, which may have no end.
    case notAFile
    /// It is a pipe, but a file is required.
    case pipe
    /// It is empty.
    case empty
    /// It is larger than this many bytes.
    case tooLarge(limit: Int)
    /// Its name is not UTF-8, so it cannot be shown.
    case nameNotUTF8
    /// It is nested in more folders than are searched.
    case tooDeep
    /// It is UTF-16 text, but UTF-8 is required.
    case utf16
    /// A system call failed.
    case system(SystemCallFailure)

    /// The error for a failed call.
    public init(_ failure: SystemCallFailure) {
        self =
            switch failure.number {
            case ENOENT, ENOTDIR: .missing
            case EACCES, EPERM: .forbidden
            case EISDIR: .folder
            case ENXIO: .notAFile
            default: .system(failure)
            }
    }
}

/// A file that the user named, open for reading; never a device, a socket or a folder.
public struct InputFile: ~Copyable {
    /// The open file.
    public let descriptor: FileDescriptor
    /// The size in bytes; `nil` for a pipe, whose size is unknown.
    public let size: Int?

    /// Opens the file at `path` without ever blocking.
    ///
    /// - Parameter acceptingPipes: whether a pipe is accepted, such as a shell's `<(command)`.
    public init(_ path: String, acceptingPipes: Bool) throws(InputFileError) {
        let opened = try InputFile.open(path)
        size = try InputFile.size(of: opened, acceptingPipes: acceptingPipes)
        descriptor = opened
    }

    private static func open(_ path: String) throws(InputFileError) -> FileDescriptor {
        do { return try FileDescriptor(reading: path) } catch { throw InputFileError(error) }
    }

    private static func size(of file: borrowing FileDescriptor, acceptingPipes: Bool)
        throws(InputFileError) -> Int?
    {
        let facts: stat
        do { facts = try file.facts() } catch { throw InputFileError(error) }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: return Int(facts.st_size)
        case S_IFDIR: throw .folder
        case S_IFIFO:
            guard acceptingPipes else { throw .pipe }
            // Opening must not wait for a writer, but reading should wait for data, so clear
            // `O_NONBLOCK`.
            guard fcntl(file.number, F_SETFL, O_RDONLY) == 0 else {
                throw .system(SystemCallFailure(call: "fcntl", number: errno))
            }
            return nil
        default: throw .notAFile
        }
    }
}
