internal import Glibc

/// What is at a path.
public enum FileKind: Hashable, Sendable {
    case file
    case folder
    case symbolicLink
    /// A device, a pipe or a socket.
    case other

    /// Looks at `path`; its last part, when it is a symbolic link, is followed if `following`.
    public init(at path: String, following: Bool) throws(SystemCallFailure) {
        var facts = stat()
        let result = unsafe following ? stat(path, &facts) : lstat(path, &facts)
        guard result == 0 else { throw SystemCallFailure(call: "stat", number: errno) }
        self.init(facts)
    }

    init(_ facts: stat) {
        self =
            switch facts.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            default: .other
            }
    }
}

extension Folder {
    /// The names in the folder at `path`, in the order of their bytes, without `.` and `..`.
    public static func names(at path: String) throws(SystemCallFailure) -> [String] {
        guard let stream = unsafe opendir(path) else {
            throw SystemCallFailure(call: "opendir", number: errno)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(
                    to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)
                ) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw SystemCallFailure(call: "readdir", number: errno) }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
