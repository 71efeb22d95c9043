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
    /// - Returns: whether it was overwritten. A file is left unchanged if other users can access
    ///   it, or if it has a second name, which may belong to a backup.
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
    /// The whole content of the file.
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

extension Folder {
    /// Opens the folder `name` in this folder; `nil` if it does not exist.
    ///
    /// It must belong to this process's user and must not be writable by other users. A symbolic
    /// link is not followed.
    public func openPrivateFolder(_ name: String) throws(FileError) -> Folder? {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let opened = retrying { unsafe openat(descriptor.number, name, flags) }
        guard opened >= 0 else {
            let number = errno
            switch number {
            case ENOENT: return nil
            case ENOTDIR, ELOOP: throw .inTheWay(name: name)
            default: throw .system(SystemCallFailure(call: "openat", number: number))
            }
        }
        let folder = Folder(owning: FileDescriptor(owning: opened))
        let facts = try FileError.system(in: folder.descriptor.facts())
        guard facts.st_uid == geteuid(), facts.st_mode & 0o022 == 0 else {
            throw .inTheWay(name: name)
        }
        return folder
    }

    /// Opens the folder `name` in this folder as ``openPrivateFolder(_:)`` does, or creates it with
    /// mode 0700, regardless of the umask, if it does not exist.
    public func makePrivateFolder(_ name: String) throws(FileError) -> Folder {
        if let folder = try openPrivateFolder(name) { return folder }
        try FileError.system(in: makeFolder(name))
        guard let folder = try openPrivateFolder(name) else {
            throw .system(SystemCallFailure(call: "openat", number: ENOENT))
        }
        return folder
    }

    /// Creates the folder `name`, unless something with this name exists.
    private func makeFolder(_ name: String) throws(SystemCallFailure) {
        if unsafe mkdirat(descriptor.number, name, 0o700) == 0 {
            // The umask may have removed the owner's permissions.
            try call("fchmodat") { unsafe fchmodat(descriptor.number, name, 0o700, 0) }
            try synchronize()
        } else if errno != EEXIST {
            throw SystemCallFailure(call: "mkdirat", number: errno)
        }
    }

    /// Where the last part of a path begins.
    public static func nameStart(in path: String) -> String.Index {
        // A combining character may follow a slash, so that the two are one `Character`.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return slash.map { path.utf8.index(after: $0) } ?? path.startIndex
    }

    /// The parts of a path between the slashes, without empty ones.
    public static func parts(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The path of the folder at `path` without symbolic links, `.` and `..`.
    ///
    /// Parts that do not exist yet are kept unchanged.
    public static func resolvedPath(_ path: String) -> String {
        var existing = path.isEmpty ? "." : path
        var rest: [String] = []
        while true {
            if let resolved = unsafe realpath(existing, nil) {
                defer { unsafe free(resolved) }
                return ([unsafe String(cString: resolved)] + rest).joined(separator: "/")
            }
            var parts = parts(of: existing)
            guard existing != ".", let last = parts.popLast() else { return path }
            rest.insert(last, at: 0)
            let start = existing.hasPrefix("/") ? "/" : ""
            existing = start + parts.joined(separator: "/")
            if existing.isEmpty { existing = "." }
        }
    }
}

extension Folder {
    /// Whether a file `name` exists whose path may be passed to a library: a regular file that
    /// belongs to this process's user and is not accessible to other users.
    ///
    /// - Throws: why an existing file does not qualify. A missing file is not an error.
    public func holdsPrivateFile(_ name: String) throws(FileError) -> Bool {
        guard let found = try FileError.system(in: facts(of: name)) else { return false }
        switch FileKind(found) {
        case .file: break
        case .folder: throw .folder
        case .symbolicLink: throw .symbolicLink
        case .pipe, .other: throw .notAFile
        }
        guard found.st_uid == geteuid() else { throw .otherOwner(found.st_uid) }
        let mode = found.st_mode & 0o7777
        guard mode & 0o077 == 0 else { throw .openToOthers(mode: mode) }
        return true
    }

    /// Creates an empty file `name` (mode 0600) and waits until its name is on disk.
    ///
    /// - Throws: `EEXIST` if the name exists.
    public func makePrivateFile(_ name: String) throws(SystemCallFailure) {
        _ = try make(name)
        try synchronize()
    }

    /// Removes the file `name`, if it exists.
    public func removeFile(_ name: String) throws(SystemCallFailure) { try remove(name) }

    /// Renames the file `name` to `target`, replacing an existing file, and waits until the change
    /// is on disk.
    public func moveFile(_ name: String, to target: String) throws(SystemCallFailure) {
        try rename(name, to: target)
        try synchronize()
    }
}
