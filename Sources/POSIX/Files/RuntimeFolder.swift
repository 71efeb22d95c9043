internal import Glibc

/// The folder for a user's sockets and locks, which exists while the user is logged in.
public enum RuntimeFolder {
    /// Why it cannot be used.
    public enum Failure: Error, Hashable, Sendable {
        /// The system provides none: XDG_RUNTIME_DIR is not set, and `/run/user/UID` does not exist.
        case missing
        /// The folder at this path belongs to another user, other users can access it, or it is not a
        /// folder.
        case notPrivate(String)
        /// A system call failed.
        case system(SystemCallFailure)
    }

    /// Opens the program's own folder in it, which only this user can access.
    ///
    /// - Parameter makes: whether to create the folder if it is missing; otherwise that is
    ///   ``Failure/missing``.
    public static func open(makes: Bool) throws(Failure) -> OpenRuntimeFolder {
        let parent = Environment.value("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())"
        guard parent.hasPrefix("/") else { throw .missing }
        let outer: Folder
        do { outer = try Folder(opening: parent) } catch {
            throw error.isMissing ? .missing : .system(error)
        }
        try requirePrivate(outer, at: parent)
        let path = parent + "/watchword"
        let own: Folder?
        do throws(PrivateFileError) {
            own =
                makes
                ? try outer.makePrivateFolder("watchword")
                : try outer.openPrivateFolder("watchword")
        } catch .system(let failure) {
            throw .system(failure)
        } catch {
            throw .notPrivate(path)
        }
        guard let own else { throw .missing }
        try requirePrivate(own, at: path)
        return OpenRuntimeFolder(path: path, folder: own)
    }

    private static func requirePrivate(
        _ folder: borrowing Folder, at path: String
    ) throws(Failure) {
        let isPrivate: Bool
        do { isPrivate = try folder.isPrivate() } catch { throw .system(error) }
        guard isPrivate else { throw .notPrivate(path) }
    }
}

/// The program's own folder for sockets and locks.
public struct OpenRuntimeFolder: ~Copyable, Sendable {
    /// Its path.
    public let path: String
    /// The open folder.
    public let folder: Folder

    /// The path of the file `name` in it.
    public func path(of name: String) -> String { path + "/" + name }

    /// What is at a name where a socket is expected.
    public enum SocketState: Sendable {
        case missing
        /// A socket that belongs to this user.
        case own
        /// Anything else, such as a symbolic link.
        case foreign
    }

    /// What exists at `name` in the folder.
    public func socketState(_ name: String) throws(SystemCallFailure) -> SocketState {
        guard let facts = try folder.facts(of: name) else { return .missing }
        let isOwn = facts.st_mode & S_IFMT == S_IFSOCK && facts.st_uid == geteuid()
        return isOwn ? .own : .foreign
    }
}

extension Folder {
    /// Whether the folder belongs to this process's user and no other user can access it.
    func isPrivate() throws(SystemCallFailure) -> Bool {
        let facts = try descriptor.facts()
        return facts.st_uid == geteuid() && facts.st_mode & 0o077 == 0
    }
}
