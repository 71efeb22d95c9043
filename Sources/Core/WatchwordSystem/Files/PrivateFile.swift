internal import Glibc

extension Folder {
    /// Reads the whole file `name` if it is a regular file that belongs to this process's user and
    /// is not accessible to other users.
    ///
    /// The checks are made on the open file, so the file that is checked is the one that is read.
    public func readPrivateFile(_ name: String, limit: Int) throws(FileError) -> [UInt8] {
        try holdPrivateFile(name, limit: limit).bytes
    }

    /// Reads the whole file at `path` as ``readPrivateFile(_:limit:)`` does.
    public static func readPrivateFile(
        at path: String, limit: Int
    ) throws(FileError) -> [UInt8] {
        let (folderPath, name) = OutputFile.split(path)
        let folder: Folder
        do { folder = try Folder(opening: folderPath) } catch {
            throw error.isMissing ? .missing : .system(error)
        }
        return try folder.readPrivateFile(name, limit: limit)
    }

    /// Reads the file `name` as ``readPrivateFile(_:limit:)`` does, and keeps it open.
    public func holdPrivateFile(_ name: String, limit: Int) throws(FileError)
        -> OpenPrivateFile
    {
        let file = try openPrivateFile(name)
        let facts = try Folder.privateFacts(of: file)
        let size = Int(facts.st_size)
        guard size <= limit else { throw .tooLarge(limit: limit) }
        // Read one byte more than expected, to detect a file that is being written to.
        let bytes = try FileError.system(in: file.bytes(atMost: size + 1))
        return OpenPrivateFile(bytes: bytes, stamp: FileStamp(facts), file: file)
    }

    /// Overwrites part of the file `name` in place, which needs no disk space, and waits until it
    /// is on disk.
    ///
    /// - Returns: whether it was overwritten. A file that other users can access, or that has a
    ///   second name, which may be that of a backup, is not.
    public func overwrite(_ name: String, at offset: Int, with bytes: Span<UInt8>)
        throws(SystemCallFailure) -> Bool
    {
        let file = try open(name, O_WRONLY)
        let facts = try file.facts()
        guard FileKind.isPrivateFile(facts), facts.st_nlink == 1 else { return false }
        try file.writeAll(bytes, at: offset)
        try call("fdatasync", retrying: true) { fdatasync(file.number) }
        return true
    }

    private func openPrivateFile(_ name: String) throws(FileError) -> FileDescriptor {
        do { return try open(name, O_RDONLY) } catch { throw FileError(openingPrivate: error) }
    }

    private static func privateFacts(of file: borrowing FileDescriptor) throws(FileError)
        -> stat
    {
        let facts = try FileError.system(in: file.facts())
        guard facts.st_mode & S_IFMT != S_IFDIR else { throw .folder }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        guard facts.st_uid == geteuid() else { throw .otherOwner(facts.st_uid) }
        let mode = facts.st_mode & 0o7777
        guard mode & 0o077 == 0 else { throw .openToOthers(mode: mode) }
        return facts
    }
}

/// A file that was read completely and is kept open, so that its inode number cannot be reused.
public struct OpenPrivateFile: ~Copyable {
    /// The file's content.
    public let bytes: [UInt8]
    private let stamp: FileStamp
    private let file: FileDescriptor

    init(bytes: [UInt8], stamp: FileStamp, file: consuming FileDescriptor) {
        self.bytes = bytes
        self.stamp = stamp
        self.file = file
    }

    /// Whether `name` in `folder` is still this file and has not changed since it was read.
    public func isUnchanged(_ name: String, in folder: borrowing Folder) throws(SystemCallFailure)
        -> Bool
    {
        try folder.facts(of: name).map { FileStamp($0) } == stamp
    }
}

/// The beginning of a file format: fixed bytes, and positions that can have any value.
public struct FileBeginning: Sendable {
    private let pattern: [UInt8?]

    /// A beginning of fixed bytes.
    public init(_ bytes: [UInt8]) { pattern = bytes }

    private init(pattern: [UInt8?]) { self.pattern = pattern }

    /// This beginning followed by `count` bytes of any value.
    public func followedByAny(_ count: Int) -> FileBeginning {
        FileBeginning(pattern: pattern + [UInt8?](repeating: nil, count: count))
    }

    /// This beginning followed by fixed bytes.
    public func followed(by bytes: [UInt8]) -> FileBeginning {
        FileBeginning(pattern: pattern + bytes)
    }

    var count: Int { pattern.count }

    /// Whether a file that starts with `bytes`, and may be truncated, matches this beginning.
    func isBegun(by bytes: [UInt8]) -> Bool {
        bytes.count <= count
            && zip(bytes, pattern).allSatisfy { byte, expected in (expected ?? byte) == byte }
    }
}
