internal import Glibc

/// A file that grows only at its end.
@safe public struct AppendedFile: ~Copyable {
    private let descriptor: FileDescriptor

    /// Opens the file at `path`, or creates it with mode 0600.
    ///
    /// A symbolic link is not followed.
    public init(_ path: String) throws(FileError) {
        let (folderPath, name) = OutputFile.split(path)
        let folder = try FileError.writing(Folder(opening: folderPath))
        let file = try FileError.writing(AppendedFile.open(name, in: folder))
        guard case .file = try FileError.system(in: file.kind()) else { throw .notReplaceable }
        descriptor = file
    }

    private static func open(
        _ name: String, in folder: borrowing Folder
    ) throws(SystemCallFailure) -> FileDescriptor {
        let flags = O_RDWR | O_APPEND
        let found = try SystemCallFailure.nilIf(\.isMissingFile, folder.open(name, flags))
        if let found { return found }
        try folder.makePrivateFile(name)
        return try folder.open(name, flags)
    }

    /// The last bytes of the file, at most `limit`.
    public func end(atMost limit: Int) throws(SystemCallFailure) -> [UInt8] {
        let start = max(try size() - limit, 0)
        try call("lseek") { lseek(descriptor.number, off_t(start), SEEK_SET) }
        return try descriptor.bytes(atMost: limit)
    }

    /// Cuts off the last `count` bytes.
    public func cutOff(_ count: Int) throws(SystemCallFailure) {
        let rest = off_t(try size() - count)
        try call("ftruncate", retrying: true) { ftruncate(descriptor.number, rest) }
    }

    /// Writes `bytes` at the end, and waits until they are on disk.
    public func append(_ bytes: Span<UInt8>) throws(SystemCallFailure) {
        try descriptor.writeAll(bytes)
        try call("fdatasync", retrying: true) { fdatasync(descriptor.number) }
    }

    private func size() throws(SystemCallFailure) -> Int {
        Int(try descriptor.facts().st_size)
    }
}
