internal import Glibc

extension Folder {
    /// Opens the folder `name` in this one; `nil` if it does not exist.
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

    /// Opens the folder `name` in this one as ``openPrivateFolder(_:)`` does, or creates it with
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
