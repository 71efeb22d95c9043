internal import Glibc

/// The folder for a user's sockets and locks, which exists while the user is logged in.
public enum RuntimeFolder {
    /// Why the folder cannot be used.
    public enum Failure: Hashable, Sendable {
        /// The system provides none: XDG_RUNTIME_DIR is not set, and `/run/user/UID` does not
        /// exist.
        case missing
        /// Other users can access the folder at this path, or it is not a folder.
        case notPrivate(String)
        /// The folder at this path belongs to another user.
        case notOwned(String)
        /// A system call failed.
        case system(SystemCallFailure)
    }

    /// The result of opening the folder.
    public enum Opening: ~Copyable {
        case opened(OpenRuntimeFolder)
        case failed(Failure)
    }

    /// Opens the program's own folder in the user's runtime folder, which only this user can
    /// access.
    ///
    /// - Parameter makes: whether to create the folder if it does not exist; otherwise, the result
    ///   is ``Failure/missing``.
    public static func open(makes: Bool) -> Opening {
        let parent = Environment.value("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())"
        guard parent.hasPrefix("/") else { return .failed(.missing) }
        let outer: Folder
        do { outer = try Folder(opening: parent) } catch {
            // After `su`, the variable still names the other user's folder, which contains nothing
            // of this user's.
            guard error.number == EACCES else {
                return .failed(error.isMissing ? .missing : .system(error))
            }
            return .failed(makes ? .notOwned(parent) : .missing)
        }
        // The outer folder matters only if the program's own folder exists or is created in it.
        if makes, let failure = exposure(of: outer, at: parent) { return .failed(failure) }
        let path = parent + "/watchword"
        let own: Folder?
        do throws(FileError) {
            own =
                makes
                ? try outer.makePrivateFolder("watchword")
                : try outer.openPrivateFolder("watchword")
        } catch .system(let failure) {
            return .failed(.system(failure))
        } catch {
            return .failed(exposure(of: outer, at: parent) ?? .notPrivate(path))
        }
        guard let own else { return .failed(.missing) }
        if !makes, let failure = exposure(of: outer, at: parent) { return .failed(failure) }
        if let failure = exposure(of: own, at: path) { return .failed(failure) }
        return .opened(OpenRuntimeFolder(path: path, folder: own))
    }

    /// Why other users may access the folder; `nil` if they cannot.
    private static func exposure(of folder: borrowing Folder, at path: String) -> Failure? {
        do throws(SystemCallFailure) {
            guard try folder.isOwn() else { return .notOwned(path) }
            return try folder.isPrivate() ? nil : .notPrivate(path)
        } catch {
            return .system(error)
        }
    }
}

/// The program's own folder for sockets and locks.
public struct OpenRuntimeFolder: ~Copyable, Sendable {
    /// The path of the folder.
    public let path: String
    /// The folder, whose files are accessed through its descriptor.
    public let folder: Folder

    /// Whether the folder's path still leads to this folder.
    public func isInPlace() throws(SystemCallFailure) -> Bool {
        let facts = try folder.descriptor.facts()
        let own = FolderIdentity(device: UInt64(facts.st_dev), number: UInt64(facts.st_ino))
        return try SystemCallFailure.nilIf(\.isMissing, FolderIdentity(at: path)) == own
    }

    /// The inode number of the file `name`; `nil` if there is none.
    public func inode(of name: String) throws(SystemCallFailure) -> UInt64? {
        try folder.facts(of: name).map { UInt64($0.st_ino) }
    }

    /// The path of the file `name` in it.
    public func path(of name: String) -> String { path + "/" + name }

    /// The kind of file at a path where a socket is expected.
    public enum SocketState: Sendable {
        case missing
        /// A socket that belongs to this user.
        case own
        /// Anything else, such as a symbolic link.
        case foreign
    }

    /// The kind of file at `name` in the folder.
    public func socketState(_ name: String) throws(SystemCallFailure) -> SocketState {
        guard let facts = try folder.facts(of: name) else { return .missing }
        let isOwn = facts.st_mode & S_IFMT == S_IFSOCK && facts.st_uid == geteuid()
        return isOwn ? .own : .foreign
    }
}

extension Folder {
    /// Opens the folder at `path`; `nil` if it belongs to another user, or other users can access
    /// it.
    public static func openPrivate(_ path: String) throws(SystemCallFailure) -> Folder? {
        let folder = try Folder(opening: path)
        guard try folder.isPrivate() else { return nil }
        return folder
    }

    /// Whether the folder belongs to this process's user.
    fileprivate func isOwn() throws(SystemCallFailure) -> Bool {
        try descriptor.facts().st_uid == geteuid()
    }

    /// Whether the folder belongs to this process's user and no other user can access it.
    func isPrivate() throws(SystemCallFailure) -> Bool {
        let facts = try descriptor.facts()
        return facts.st_uid == geteuid() && facts.st_mode & 0o077 == 0
    }
}

/// A new folder that only this user can open; it is removed with its files when the last reference
/// is released.
///
/// Interrupting signals take effect after that, so they leave none of its files behind.
@safe public final class PrivateTemporaryFolder {
    /// The path of the new folder.
    public let path: String
    private let signals: SignalQueue

    /// Creates a folder in the user's runtime folder, which is in memory, or else in the folder for
    /// temporary files.
    public init() throws(SystemCallFailure) {
        signals = try SignalQueue(SignalQueue.interruptions)
        let parent =
            Environment.value("XDG_RUNTIME_DIR") ?? Environment.value("TMPDIR") ?? "/tmp"
        let replaced = String(repeating: "X", count: 6)
        var name = Array("\(parent)/watchword-\(replaced)".utf8CString)
        guard unsafe mkdtemp(&name) != nil else {
            throw SystemCallFailure(call: "mkdtemp", number: errno)
        }
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // A file that cannot be removed stays in a folder that no other user can open.
        for name in ifPossible(try Folder.names(at: path)) ?? [] {
            Folder.removeFile(at: "\(path)/\(name)")
        }
        unsafe rmdir(path)
    }
}

/// Folders of the system, which ordinary users cannot change.
public enum SystemFolder {
    /// Whether `path` is a folder that belongs to root and that only root can write to.
    ///
    /// A symbolic link is not followed. Nobody else can then create, replace or remove a file in
    /// it.
    public static func isRoots(_ path: String) -> Bool {
        guard let facts = facts(of: path) else { return false }
        return facts.st_mode & S_IFMT == S_IFDIR && facts.st_uid == 0
            && facts.st_mode & 0o022 == 0
    }

    /// The user ID of the owner of the folder at `path`; `nil` if there is no folder.
    public static func owner(of path: String) -> UInt32? {
        guard let facts = facts(of: path), facts.st_mode & S_IFMT == S_IFDIR else { return nil }
        return facts.st_uid
    }

    private static func facts(of path: String) -> stat? {
        var facts = stat()
        return unsafe lstat(path, &facts) == 0 ? facts : nil
    }
}

extension CurrentProcess {
    /// The effective user ID of this process.
    public static var user: UInt32 { geteuid() }
    /// The real user ID of this process.
    public static var realUser: UInt32 { getuid() }
}

/// The system's user database.
public enum UserDatabase {
    /// The name of the user with this ID; `nil` if there is none.
    public static func name(of user: UInt32) -> String? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        let result = unsafe getpwuid_r(user, &entry, &buffer, buffer.count, &found)
        guard result == 0, unsafe found != nil, let name = unsafe entry.pw_name else { return nil }
        return unsafe String(validatingCString: name)
    }

    /// The name of the user with this ID; `nil` if there is none.
    ///
    /// A look-up may ask a server, so each look-up has its own thread.
    public static func findName(of user: UInt32) async -> String? {
        await withCheckedContinuation { found in
            let thread = WorkerThread { found.resume(returning: name(of: user)) }
            guard let thread else { return found.resume(returning: nil) }
            thread.detach()
        }
    }

    /// The ID that the kernel shows for a user that the process's namespace does not have, unless
    /// the system is configured differently.
    private static let standardOverflowUser: UInt32 = 65_534

    /// The numbers that the kernel shows instead of a user ID that this process's namespace does
    /// not have (`/proc/sys/kernel/overflowuid`): no user has these IDs.
    public static func overflowUsers() -> Set<UInt32> {
        let text = ifPossible(
            try FileDescriptor(reading: "/proc/sys/kernel/overflowuid").bytes(atMost: 16))
        let digits = text.map { String(decoding: $0.prefix { $0 != 0x0A }, as: UTF8.self) }
        return [standardOverflowUser, digits.flatMap { UInt32($0) } ?? standardOverflowUser]
    }
}
