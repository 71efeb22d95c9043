internal import CLinux
internal import Glibc

/// Why the files in a folder are not protected from other users.
public enum FolderExposure: Hashable, Sendable {
    /// The folder belongs to the user with this number.
    case otherOwner(UInt32)
    /// Other users can write to it; these are its permission bits.
    case openToOthers(mode: UInt32)
}

/// An open folder.
///
/// Its names are accessed through the descriptor, so that moving or replacing the path has no
/// effect.
@safe public struct Folder: ~Copyable, Sendable {
    let descriptor: FileDescriptor

    /// Takes ownership of an open folder.
    init(owning descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// Opens the folder at `path` without changing anything in it.
    public init(opening path: String) throws(SystemCallFailure) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let opened = try call("open", retrying: true) { unsafe Glibc.open(path, flags) }
        descriptor = FileDescriptor(owning: opened)
    }

    /// Creates the folder at `path`, and missing parent folders, with mode 0700, regardless of the
    /// umask.
    ///
    /// An existing folder keeps its mode. Where the system allows it, the name of each new folder is
    /// on disk when this returns.
    public static func make(_ path: String) throws(SystemCallFailure) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in parts(of: path) {
            made += (made.isEmpty || made == "/" ? "" : "/") + part
            guard unsafe mkdir(made, 0o700) != 0 else {
                // The confined agent may not call `chmod`.
                try call("fchmodat") { unsafe fchmodat(AT_FDCWD, made, 0o700, 0) }
                let parent = OutputFile.split(made).folder
                _ = ifPossible(try Folder(opening: parent).synchronize())
                continue
            }
            let number = errno
            // mkdir fails with EEXIST for an existing folder; some systems report EROFS or EACCES
            // instead.
            guard unsafe (number == EEXIST || access(made, F_OK) == 0) else {
                throw SystemCallFailure(call: "mkdir", number: number)
            }
        }
    }

    /// Opens the file `name` in this folder.
    ///
    /// A symbolic link is not followed (`ELOOP`).
    ///
    /// A named pipe does not block the caller, and a terminal does not become its controlling
    /// terminal.
    func open(_ name: String, _ flags: Int32, mode: mode_t = 0) throws(SystemCallFailure)
        -> FileDescriptor
    {
        try open(Array(name.utf8CString), flags, mode: mode)
    }

    /// Opens a file in the same way by a name that may not be UTF-8 and that ends with a zero byte.
    func open(_ name: [CChar], _ flags: Int32, mode: mode_t = 0) throws(SystemCallFailure)
        -> FileDescriptor
    {
        let all = flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
        let opened = try call("openat", retrying: true) {
            unsafe openat(descriptor.number, name, all, mode)
        }
        return FileDescriptor(owning: opened)
    }

    /// Creates a file `name` that only its owner can read and write, regardless of the umask.
    ///
    /// - Throws: `EEXIST` if the name exists.
    func make(_ name: String) throws(SystemCallFailure) -> FileDescriptor {
        let file = try open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        try call("fchmod") { fchmod(file.number, 0o600) }
        return file
    }

    /// Whether anything with this name exists, including a broken symbolic link.
    public func holds(_ name: String) throws(SystemCallFailure) -> Bool {
        try facts(of: name) != nil
    }

    /// The kernel's information about `name`, without following a symbolic link; `nil` if it does
    /// not exist.
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
        try call("linkat") {
            unsafe linkat(descriptor.number, name, other.descriptor.number, second, 0)
        }
    }

    /// Renames `name` to `target` atomically, replacing an existing file.
    func rename(_ name: String, to target: String) throws(SystemCallFailure) {
        try rename(name, to: target, in: self)
    }

    /// Moves `name` to `target` in the folder `other` atomically, replacing an existing file.
    func rename(_ name: String, to target: String, in other: borrowing Folder)
        throws(SystemCallFailure)
    {
        try call("renameat") {
            unsafe renameat(descriptor.number, name, other.descriptor.number, target)
        }
    }

    /// Exchanges `name` and the name `second` in the folder `other` in one step.
    func exchange(_ name: String, with second: String, in other: borrowing Folder)
        throws(SystemCallFailure)
    {
        try call("renameat2") {
            unsafe linux_exchange(descriptor.number, name, other.descriptor.number, second)
        }
    }

    /// Removes the file at `path`; returns whether it is gone.
    @discardableResult public static func removeFile(at path: String) -> Bool {
        unsafe unlink(path) == 0 || errno == ENOENT
    }

    /// Removes the name, if it exists.
    func remove(_ name: String) throws(SystemCallFailure) {
        guard unsafe unlinkat(descriptor.number, name, 0) != 0, errno != ENOENT else { return }
        throw SystemCallFailure(call: "unlinkat", number: errno)
    }

    /// Removes the folder `name`, unless it contains files or does not exist.
    public func removeFolder(_ name: String) throws(SystemCallFailure) {
        guard unsafe unlinkat(descriptor.number, name, AT_REMOVEDIR) != 0, errno != ENOENT,
            errno != ENOTEMPTY, errno != EEXIST
        else { return }
        throw SystemCallFailure(call: "unlinkat", number: errno)
    }

    /// Why users other than root and this process's user can replace the files in this folder;
    /// `nil` if they cannot.
    ///
    /// In a sticky folder, such as `/tmp`, other users can add files, but cannot replace existing
    /// ones.
    public func exposure() throws(SystemCallFailure) -> FolderExposure? {
        let facts = try descriptor.facts()
        if facts.st_uid != geteuid(), facts.st_uid != 0 { return .otherOwner(facts.st_uid) }
        let mode = facts.st_mode & 0o7777
        return mode & 0o022 != 0 && mode & S_ISVTX == 0 ? .openToOthers(mode: mode) : nil
    }

    /// Whether both paths name the same folder, however they are written.
    public static func areSame(_ path: String, _ other: String) throws(SystemCallFailure) -> Bool {
        let first = try Folder(opening: path).descriptor.facts()
        return try first.isSameFile(as: Folder(opening: other).descriptor.facts())
    }

    /// Waits until the names in this folder are on disk.
    func synchronize() throws(SystemCallFailure) {
        try descriptor.synchronize()
    }
}

extension stat {
    /// Whether both describe the same file or folder.
    func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}

extension FileDescriptor {
    /// Waits until the file's content is on disk.
    func synchronize() throws(SystemCallFailure) {
        try call("fsync", retrying: true) { fsync(number) }
    }

    /// The kernel's information about the file.
    func facts() throws(SystemCallFailure) -> stat {
        var facts = stat()
        try call("fstat") { unsafe fstat(number, &facts) }
        return facts
    }
}

// Corrects the permissions of the user's own files after a program that copies files (git, a
// file-sync client) has given other users access.
extension Folder {
    /// The permission bits of the file `name` if other users can access it; `nil` if they cannot,
    /// or if it is not a regular file of this process's user.
    public func modeOpenToOthers(of name: String) throws(SystemCallFailure) -> UInt32? {
        guard let facts = try facts(of: name), FileKind(facts) == .file,
            facts.st_uid == geteuid(), facts.st_mode & 0o077 != 0
        else { return nil }
        return facts.st_mode & 0o7777
    }

    /// Removes all permissions of other users from the file `name`, if it is a regular file of this
    /// process's user; never follows a link.
    ///
    /// The file that is checked is the one that is changed, even if the name is replaced meanwhile.
    public func closeToOthers(_ name: String) throws(SystemCallFailure) {
        let opened = try SystemCallFailure.nilIf(
            { $0.isMissingFile || $0.number == ELOOP }, open(name, O_RDONLY))
        guard let file = opened else { return }
        let facts = try file.facts()
        guard FileKind(facts) == .file, facts.st_uid == geteuid(), facts.st_mode & 0o077 != 0
        else { return }
        try file.setMode(0o600)
    }

    /// Whether other users can write to this folder, which belongs to this process's user.
    public func isOwnAndWritableByOthers() throws(SystemCallFailure) -> Bool {
        let facts = try descriptor.facts()
        return facts.st_uid == geteuid() && facts.st_mode & 0o022 != 0
    }

    /// Removes other users' permission to write to this folder; does nothing if it belongs to
    /// somebody else.
    public func closeToWritersOfOthers() throws(SystemCallFailure) {
        guard try isOwnAndWritableByOthers() else { return }
        try descriptor.setMode(try descriptor.facts().st_mode & 0o7777 & ~0o022)
    }

    /// Opens the folder `name` in this folder, whatever its permissions; `nil` if it does not
    /// exist, is a symbolic link, or belongs to another user.
    public func openOwnFolder(_ name: String) throws(SystemCallFailure) -> Folder? {
        let opened = try SystemCallFailure.nilIf(
            { [ENOENT, ENOTDIR, ELOOP].contains($0.number) }, open(name, O_RDONLY | O_DIRECTORY))
        guard let file = opened else { return nil }
        guard try file.facts().st_uid == geteuid() else { return nil }
        return Folder(owning: file)
    }

    /// The first bytes, at most `limit`, of the file `name`, whatever its permissions; `nil` if it
    /// is not a regular file of this process's user, or cannot be read.
    public func beginning(of name: String, limit: Int) -> [UInt8]? {
        beginning(of: Array(name.utf8CString), limit: limit)
    }

    /// Reads the first bytes in the same way by a name that may not be UTF-8 and that ends with a
    /// zero byte.
    public func beginning(of name: [CChar], limit: Int) -> [UInt8]? {
        do throws(SystemCallFailure) {
            let file = try open(name, O_RDONLY)
            let facts = try file.facts()
            guard FileKind(facts) == .file, facts.st_uid == geteuid() else { return nil }
            return try file.bytes(atMost: limit)
        } catch {
            return nil
        }
    }
}

extension FileDescriptor {
    /// Changes the permission bits of the open file.
    fileprivate func setMode(_ mode: mode_t) throws(SystemCallFailure) {
        try call("fchmod") { fchmod(number, mode) }
    }
}
