internal import Glibc

extension Folder {
    /// Whether a file `name` exists whose path may be passed to a library: a regular file that
    /// belongs to this process's user and is not accessible to other users.
    ///
    /// - Throws: why an existing file does not qualify. A missing file is not an error.
    public func holdsPrivateFile(_ name: String) throws(PrivateFileError) -> Bool {
        let found: stat?
        do { found = try facts(of: name) } catch { throw .system(error) }
        guard let found else { return false }
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
