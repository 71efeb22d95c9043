internal import Glibc

/// The kind of file at a path.
public enum FileKind: Hashable, Sendable {
    case file
    case folder
    case symbolicLink
    case pipe
    /// A device or a socket.
    case other

    /// Determines the kind of file at `path`.
    ///
    /// - Parameter following: whether to follow a symbolic link.
    public init(at path: String, following: Bool) throws(SystemCallFailure) {
        var facts = stat()
        try call("stat") { unsafe following ? stat(path, &facts) : lstat(path, &facts) }
        self.init(facts)
    }

    /// Whether the file at `path` is readable by other users, according to its mode and the modes
    /// of its folders.
    ///
    /// A file that cannot be examined is treated as not readable.
    public static func isReadableByOthers(at path: String) -> Bool {
        guard let resolved = unsafe realpath(path, nil) else { return false }
        defer { unsafe free(resolved) }
        var place = Substring(unsafe String(cString: resolved))
        var facts = stat()
        guard unsafe stat(String(place), &facts) == 0, FileKind(facts) == .file else {
            return false
        }
        var byGroup = facts.st_mode & S_IRGRP != 0
        var byAll = facts.st_mode & S_IROTH != 0
        while byGroup || byAll, let slash = place.utf8.lastIndex(of: UInt8(ascii: "/")) {
            place = place[..<slash]
            guard unsafe stat(place.isEmpty ? "/" : String(place), &facts) == 0 else {
                return false
            }
            byGroup = byGroup && facts.st_mode & S_IXGRP != 0
            byAll = byAll && facts.st_mode & S_IXOTH != 0
        }
        return byGroup || byAll
    }

    init(_ facts: stat) {
        self =
            switch facts.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .pipe
            default: .other
            }
    }
}

extension FileKind {
    /// Whether this is a regular file of this process's user that nobody else can read or write.
    static func isPrivateFile(_ facts: stat) -> Bool {
        FileKind(facts) == .file && facts.st_uid == geteuid()
            && facts.st_mode & 0o7777 & ~0o600 == 0
    }
}

extension Folder {
    /// The names in the folder at `path`, sorted by bytes, without `.` and `..`.
    ///
    /// Invalid UTF-8 in a name is replaced, so the result does not identify the file.
    public static func names(at path: String) throws(SystemCallFailure) -> [String] {
        try exactNames(at: path).map(\.repaired)
    }

    /// The same names, and the bytes of each, which end with a zero byte.
    public static func exactNames(
        at path: String
    ) throws(SystemCallFailure) -> [(repaired: String, bytes: [CChar])] {
        guard let stream = unsafe opendir(path) else {
            throw SystemCallFailure(call: "opendir", number: errno)
        }
        defer { unsafe closedir(stream) }
        var names: [(repaired: String, bytes: [CChar])] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(
                    to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)
                ) { unsafe [CChar](UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
            }
            let bytes = name.dropLast().map { UInt8(bitPattern: $0) }
            let text = String(decoding: bytes, as: UTF8.self)
            if text != ".", text != ".." { names.append((text, name)) }
        }
        guard errno == 0 else { throw SystemCallFailure(call: "readdir", number: errno) }
        return names.sorted { $0.repaired.utf8.lexicographicallyPrecedes($1.repaired.utf8) }
    }
}

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
        let facts = try facts()
        return switch facts.st_mode & S_IFMT {
        case S_IFREG: .file(size: Int(facts.st_size))
        case S_IFDIR: .folder
        case S_IFIFO: .pipe
        default: .other
        }
    }
}

/// Identifies a file and its state: its inode number, its size and its last change.
public struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64
    /// The size of the file in bytes.
    public let size: Int64
    private let changedAt: (seconds: Int, nanoseconds: Int)
    /// When the content was last written, in seconds since 1970.
    public let writtenAt: Int64

    /// Reads the stamp of the file at `path`; `nil` if it does not exist or cannot be accessed.
    public init?(of path: String) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    init(_ facts: stat) {
        device = UInt64(facts.st_dev)
        number = UInt64(facts.st_ino)
        size = Int64(facts.st_size)
        changedAt = (facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec)
        writtenAt = Int64(facts.st_mtim.tv_sec)
    }

    /// Whether both stamps describe the same file in the same state.
    public static func == (left: FileStamp, right: FileStamp) -> Bool {
        left.device == right.device && left.number == right.number && left.size == right.size
            && left.changedAt == right.changedAt
    }

    /// Hashes the fields that are compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(number)
        hasher.combine(size)
        hasher.combine(changedAt.seconds)
        hasher.combine(changedAt.nanoseconds)
    }
}

/// Identifies a folder, whatever its path: two paths lead to the same folder if these are equal.
public struct FolderIdentity: Hashable, Sendable {
    /// The number of the file system.
    public let device: UInt64
    /// The folder's number in it.
    public let number: UInt64

    /// Combines the two numbers.
    public init(device: UInt64, number: UInt64) {
        self.device = device
        self.number = number
    }

    /// Identifies the folder at `path`.
    public init(at path: String) throws(SystemCallFailure) {
        var facts = stat()
        try call("stat") { unsafe stat(path, &facts) }
        self.init(device: UInt64(facts.st_dev), number: UInt64(facts.st_ino))
    }
}
