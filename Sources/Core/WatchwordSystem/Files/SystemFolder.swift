internal import Glibc

/// Folders of the system, which ordinary users cannot change.
public enum SystemFolder {
    /// Whether `path` is a folder that belongs to root and that only root can write to.
    ///
    /// A symbolic link is not followed. Nobody else can then create, replace or remove a file in it.
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
    /// Its effective user ID.
    public static var user: UInt32 { geteuid() }
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
}
