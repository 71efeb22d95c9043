internal import Glibc

/// A file that the user named, open for reading; never a device, a socket or a folder.
public struct InputFile: ~Copyable {
    /// The open file.
    public let descriptor: FileDescriptor
    /// The size in bytes; `nil` for a pipe, whose size is unknown.
    public let size: Int?

    /// Opens the file at `path` without ever blocking.
    ///
    /// - Parameter acceptingPipes: whether a pipe is accepted, such as a shell's `<(command)`.
    public init(_ path: String, acceptingPipes: Bool) throws(FileError) {
        let opened = try FileError.reading(FileDescriptor(reading: path))
        size = try InputFile.size(of: opened, acceptingPipes: acceptingPipes)
        descriptor = opened
    }

    private static func size(of file: borrowing FileDescriptor, acceptingPipes: Bool)
        throws(FileError) -> Int?
    {
        let facts = try FileError.reading(file.facts())
        switch facts.st_mode & S_IFMT {
        case S_IFREG: return Int(facts.st_size)
        case S_IFDIR: throw .folder
        case S_IFIFO:
            guard acceptingPipes else { throw .pipe }
            // Opening must not wait for a writer, but reading should wait for data, so clear
            // `O_NONBLOCK`.
            try FileError.system(in: call("fcntl") { fcntl(file.number, F_SETFL, O_RDONLY) })
            return nil
        default: throw .notAFile
        }
    }
}
