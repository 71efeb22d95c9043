internal import Glibc

/// Why a file that somebody named is not read.
public enum InputFileError: Error, Hashable, Sendable {
    /// There is nothing of that name.
    case missing
    /// This user may not read it.
    case forbidden
    /// It is a folder.
    case folder
    /// It is a device or a socket, which may never end.
    case notAFile
    /// It is a pipe, where a file is needed.
    case pipe
    /// It holds nothing.
    case empty
    /// It holds more than this many bytes.
    case tooLarge(limit: Int)
    /// Its name is not UTF-8, and so can't be said.
    case nameNotUTF8
    /// It is in more folders, one in the other, than are walked.
    case tooDeep
    /// It is a text in UTF-16, where UTF-8 is needed.
    case utf16
    /// The system refused.
    case system(SystemCallFailure)

    /// What a failed call says of the file.
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

/// A file that somebody named, open for reading; never a device, a socket or a folder.
public struct InputFile: ~Copyable {
    /// The open file.
    public let descriptor: FileDescriptor
    /// How many bytes it holds; `nil` for a pipe, which does not say.
    public let size: Int?

    /// Opens the file at `path`; nothing that `path` may be makes this wait.
    ///
    /// - Parameter acceptingPipes: whether a pipe will do, such as a shell's `<(command)`.
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
            // Opening must not wait for a writer, but reading waits for the one that is there.
            guard fcntl(file.number, F_SETFL, O_RDONLY) == 0 else {
                throw .system(SystemCallFailure(call: "fcntl", number: errno))
            }
            return nil
        default: throw .notAFile
        }
    }
}
