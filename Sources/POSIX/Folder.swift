internal import Glibc

/// Why the files in a folder are not safe from others.
public enum FolderExposure: Hashable, Sendable {
    /// The folder belongs to the user with this number.
    case otherOwner(UInt32)
    /// Others may write to it; these are its permission bits.
    case openToOthers(mode: UInt32)
}

/// An open folder: the names in it are worked on through it, so that moving or swapping the path
/// meanwhile changes nothing.
@safe public struct Folder: ~Copyable, Sendable {
    let descriptor: FileDescriptor

    /// Takes over an open folder.
    init(owning descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// Opens the folder at `path`; nothing in it is touched.
    public init(opening path: String) throws(SystemCallFailure) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let opened = retrying { unsafe Glibc.open(path, flags) }
        guard opened >= 0 else { throw SystemCallFailure(call: "open", number: errno) }
        descriptor = FileDescriptor(owning: opened)
    }

    /// Makes the folder at `path` with mode 0700, whatever the umask is, unless it is there, and the
    /// folders above it.
    ///
    /// What is there already keeps its mode.
    public static func make(_ path: String) throws(SystemCallFailure) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty || made == "/" ? "" : "/") + part
            guard unsafe mkdir(made, 0o700) != 0 else {
                guard unsafe chmod(made, 0o700) == 0 else {
                    throw SystemCallFailure(call: "chmod", number: errno)
                }
                continue
            }
            let number = errno
            // A folder that is there answers EEXIST; some systems answer EROFS or EACCES first.
            guard unsafe (number == EEXIST || access(made, F_OK) == 0) else {
                throw SystemCallFailure(call: "mkdir", number: number)
            }
        }
    }

    /// Opens the file `name` in this folder; a symbolic link is not followed (`ELOOP`).
    ///
    /// A named pipe or a terminal does not hang or capture the caller.
    func open(_ name: String, _ flags: Int32, mode: mode_t = 0) throws(SystemCallFailure)
        -> FileDescriptor
    {
        let all = flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
        let opened = retrying { unsafe openat(descriptor.number, name, all, mode) }
        guard opened >= 0 else { throw SystemCallFailure(call: "openat", number: errno) }
        return FileDescriptor(owning: opened)
    }

    /// Makes a new file `name` that only its owner can read and write, whatever the umask is.
    ///
    /// - Throws: `EEXIST` when there is one.
    func make(_ name: String) throws(SystemCallFailure) -> FileDescriptor {
        let file = try open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        guard fchmod(file.number, 0o600) == 0 else {
            throw SystemCallFailure(call: "fchmod", number: errno)
        }
        return file
    }

    /// Tells whether there is anything named `name`, be it a broken symbolic link.
    public func holds(_ name: String) throws(SystemCallFailure) -> Bool {
        try facts(of: name) != nil
    }

    /// What the kernel knows of what is named `name`, a symbolic link itself; `nil` when there is nothing.
    func facts(of name: String) throws(SystemCallFailure) -> stat? {
        var facts = stat()
        if unsafe fstatat(descriptor.number, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 {
            return facts
        }
        guard errno == ENOENT else { throw SystemCallFailure(call: "fstatat", number: errno) }
        return nil
    }

    /// Gives the file `name` a second name, in the folder `other`.
    func link(_ name: String, to second: String, in other: borrowing Folder)
        throws(SystemCallFailure)
    {
        guard
            unsafe linkat(descriptor.number, name, other.descriptor.number, second, 0) == 0
        else { throw SystemCallFailure(call: "linkat", number: errno) }
    }

    /// Gives `name` the name `target`, in one step; what had that name is gone.
    func rename(_ name: String, to target: String) throws(SystemCallFailure) {
        try rename(name, to: target, in: self)
    }

    /// Gives `name` the name `target` in the folder `other`, in one step; what had that name is gone.
    func rename(_ name: String, to target: String, in other: borrowing Folder)
        throws(SystemCallFailure)
    {
        guard
            unsafe renameat(descriptor.number, name, other.descriptor.number, target) == 0
        else { throw SystemCallFailure(call: "renameat", number: errno) }
    }

    /// Takes the name away; that there is none is fine.
    func remove(_ name: String) throws(SystemCallFailure) {
        guard unsafe unlinkat(descriptor.number, name, 0) != 0, errno != ENOENT else { return }
        throw SystemCallFailure(call: "unlinkat", number: errno)
    }

    /// Who else than this process's user and root may swap the files in this folder, if anybody.
    ///
    /// In a sticky folder, such as `/tmp`, others may add files, but not touch these.
    public func exposure() throws(SystemCallFailure) -> FolderExposure? {
        let facts = try descriptor.facts()
        if facts.st_uid != geteuid(), facts.st_uid != 0 { return .otherOwner(facts.st_uid) }
        let mode = facts.st_mode & 0o7777
        return mode & 0o022 != 0 && mode & S_ISVTX == 0 ? .openToOthers(mode: mode) : nil
    }

    /// Waits until the names in this folder are on the disk.
    func synchronize() throws(SystemCallFailure) {
        try descriptor.synchronize()
    }
}

extension FileDescriptor {
    /// Waits until what was written is on the disk.
    func synchronize() throws(SystemCallFailure) {
        guard retrying({ fsync(number) }) == 0 else {
            throw SystemCallFailure(call: "fsync", number: errno)
        }
    }

    /// What the kernel knows of the file.
    func facts() throws(SystemCallFailure) -> stat {
        var facts = stat()
        guard unsafe fstat(number, &facts) == 0 else {
            throw SystemCallFailure(call: "fstat", number: errno)
        }
        return facts
    }
}
