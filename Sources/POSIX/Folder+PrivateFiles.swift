internal import Glibc

extension Folder {
    /// Tells whether there is a file `name` that a library may be given the path of: a regular file
    /// that belongs to this process's user and is open to nobody else.
    ///
    /// - Throws: why what is there is no such file; that there is none is no error.
    public func holdsPrivateFile(_ name: String) throws(PrivateFileError) -> Bool {
        let found: stat?
        do { found = try facts(of: name) } catch { throw .system(error) }
        guard let found else { return false }
        switch FileKind(found) {
        case .file: break
        case .folder: throw .folder
        case .symbolicLink: throw .symbolicLink
        case .other: throw .notAFile
        }
        guard found.st_uid == geteuid() else { throw .otherOwner(found.st_uid) }
        let mode = found.st_mode & 0o7777
        guard mode & 0o077 == 0 else { throw .openToOthers(mode: mode) }
        return true
    }

    /// Makes an empty file `name` (mode 0600) whose name is on the disk.
    ///
    /// - Throws: `EEXIST` when there is something of that name.
    public func makePrivateFile(_ name: String) throws(SystemCallFailure) {
        _ = try make(name)
        try synchronize()
    }

    /// Takes the file `name` away; that there is none is fine.
    public func removeFile(_ name: String) throws(SystemCallFailure) { try remove(name) }

    /// Gives the file `name` the name `target`, in the place of what had it, and waits until that is
    /// on the disk.
    public func moveFile(_ name: String, to target: String) throws(SystemCallFailure) {
        try rename(name, to: target)
        try synchronize()
    }
}
