internal import Glibc

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
        let file: FileDescriptor
        do throws(SystemCallFailure) {
            file = try open(name, O_RDONLY)
        } catch  where error.isMissingFile || error.number == ELOOP {
            return
        }
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

    /// Opens the folder `name` in this one, whatever its permissions; `nil` if it does not exist,
    /// is a symbolic link, or belongs to another user.
    public func openOwnFolder(_ name: String) throws(SystemCallFailure) -> Folder? {
        let file: FileDescriptor
        do throws(SystemCallFailure) {
            file = try open(name, O_RDONLY | O_DIRECTORY)
        } catch  where [ENOENT, ENOTDIR, ELOOP].contains(error.number) {
            return nil
        }
        guard try file.facts().st_uid == geteuid() else { return nil }
        return Folder(owning: file)
    }

    /// The first bytes, at most `limit`, of the file `name`, whatever its permissions; `nil` if it
    /// is not a regular file of this process's user, or cannot be read.
    public func beginning(of name: String, limit: Int) -> [UInt8]? {
        beginning(of: Array(name.utf8CString), limit: limit)
    }

    /// The same for a name that may not be UTF-8; it ends with a zero byte.
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
