internal import POSIX

/// Where a vault is: a folder and a name in it, and the names of what stands beside.
struct VaultLocation {
    let folder: String
    let name: String

    var lock: String { name + ".lock" }
    var loginLock: String { name + ".login.lock" }
    var mark: String { name + ".generation" }
    var attempts: String { name + ".attempts" }
    var attemptsLock: String { name + ".attempts.lock" }
    var presenceLock: String { name + ".presence.lock" }
    var previous: String { name + ".previous" }

    /// Takes a path apart; one that ends in a slash or a dot is a folder's.
    init(_ path: String) throws(VaultError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, !["", ".", ".."].contains(last) else { throw .folder }
        name = String(last)
        let above = path.dropLast(last.count)
        folder = above.isEmpty ? "." : String(above)
    }

    /// Opens the folder; that there is none means that there is no vault.
    func openFolder() throws(VaultError) -> Folder {
        do { return try Folder(opening: folder) } catch { throw VaultError(opening: error) }
    }

    /// What is to be reported of the folder, if anything.
    func exposure(of folder: borrowing Folder) throws(VaultError) -> VaultReport? {
        do { return try folder.exposure().map(VaultReport.init) } catch { throw .system(error) }
    }

    /// Makes the folder, open to its owner only, unless it is there.
    func makeFolder() throws(VaultError) {
        do { try Folder.make(folder) } catch { throw .system(error) }
    }

    /// Whether there is anything at the vault's path, whatever it is.
    func holdsFile(in folder: borrowing Folder) throws(VaultError) -> Bool {
        do { return try folder.holds(name) } catch { throw .system(error) }
    }

    /// Reads the vault's file; no lock is needed, since it is always whole.
    func read(_ name: String, in folder: borrowing Folder) throws(VaultError) -> [UInt8] {
        do {
            return try folder.readPrivateFile(name, limit: VaultLimits.fileSize)
        } catch {
            throw VaultError(error)
        }
    }

    /// Reads the vault's file, and keeps hold of it.
    func hold(in folder: borrowing Folder) throws(VaultError) -> HeldFile {
        do {
            return try folder.holdPrivateFile(name, limit: VaultLimits.fileSize)
        } catch {
            throw VaultError(error)
        }
    }
}

extension VaultError {
    /// A folder that is missing, or no folder, holds no vault.
    fileprivate init(opening failure: SystemCallFailure) {
        self = failure.meansMissing ? .notFound : .system(failure)
    }
}
