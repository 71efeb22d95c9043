internal import POSIX

/// Where a vault is, and where the files are that the program keeps for it.
///
/// Those are all in the folder `.watchword` beside the vault: what belongs to the file of this name in
/// `by-name/NAME`, and what is counted against the vault of this ID, whatever its name is, in
/// `by-id/ID`. No vault is made in there, so no vault can have the name of another one's file.
struct VaultLocation {
    let folder: String
    let name: String
    /// The path of the folder that holds `.watchword`.
    private let base: String
    /// Whether the vault itself is in a `.watchword` folder: it is a generation that the program keeps,
    /// and is only read.
    let isKept: Bool

    /// The folder of everything that the program keeps.
    static let keeper = ".watchword"

    // In `by-name/NAME`.
    static let lock = "lock"
    static let loginLock = "login.lock"
    static let mark = "generation"
    static let previous = "previous"

    // In `by-id/ID`.
    static let attempts = "attempts"
    static let attemptsLock = "attempts.lock"
    static let presenceLock = "presence.lock"

    /// Takes a path apart; one that ends in a slash or a dot is a folder's.
    init(_ path: String) throws(VaultError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, !["", ".", ".."].contains(last) else { throw .folder }
        name = String(last)
        let above = path.dropLast(last.count)
        let folder = above.isEmpty ? "." : String(above)
        let resolved = Folder.resolvedPath(folder).split(separator: "/")
        if let place = resolved.firstIndex(where: { VaultLocation.isKeeper($0) }) {
            base = "/" + resolved[..<place].joined(separator: "/")
            isKept = true
        } else {
            base = folder
            isKept = false
        }
        self.folder = folder
    }

    /// Refuses a place where no vault may be made: the name that the program uses itself, and every
    /// place in that folder.
    func expectFree() throws(VaultError) {
        guard !isKept, !VaultLocation.isKeeper(name) else { throw .reservedPlace }
    }

    // Some file systems do not tell cases apart.
    private static func isKeeper(_ name: some StringProtocol) -> Bool {
        name.lowercased() == keeper
    }

    /// Opens the folder; that there is none means that there is no vault.
    func openFolder() throws(VaultError) -> Folder { try VaultLocation.open(folder) }

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
    func read() throws(VaultError) -> [UInt8] { try VaultLocation.read(name, in: openFolder()) }

    /// Reads a vault's file.
    static func read(_ name: String, in folder: borrowing Folder) throws(VaultError) -> [UInt8] {
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

    private static func open(_ path: String) throws(VaultError) -> Folder {
        do { return try Folder(opening: path) } catch { throw VaultError(opening: error) }
    }
}

// The files that the program keeps.
extension VaultLocation {
    /// Where the folder of the file's own is, as its owner finds it.
    private var ownParts: [String] { [VaultLocation.keeper, "by-name", name] }

    /// Where files of other names in the same folder would be whose own folders are still there.
    func others() throws(VaultError) -> [VaultLocation] {
        let names: [String]
        do {
            names = try Folder.names(at: base + "/" + ownParts.dropLast().joined(separator: "/"))
        } catch {
            throw .system(error)
        }
        var others: [VaultLocation] = []
        for other in names where other != name {
            others.append(try VaultLocation(folder + "/" + other))
        }
        return others
    }

    private static func countParts(_ vaultID: [UInt8]) -> [String] {
        let digits = vaultID.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return [keeper, "by-id", digits.joined()]
    }

    /// Opens the folder of what belongs to the file of this name; `nil` when there is none.
    func openOwn() throws(VaultError) -> Folder? {
        isKept ? nil : try open(ownParts, making: false)
    }

    /// The same, and makes it when there is none.
    func makeOwn() throws(VaultError) -> Folder {
        guard !isKept else { throw .keptGeneration }
        return try made(ownParts)
    }

    /// Opens the folder of what is counted against the vault of this ID; `nil` when there is none.
    func openCount(of vaultID: [UInt8]) throws(VaultError) -> Folder? {
        try open(VaultLocation.countParts(vaultID), making: false)
    }

    /// The same, and makes it when there is none.
    func makeCount(of vaultID: [UInt8]) throws(VaultError) -> Folder {
        try made(VaultLocation.countParts(vaultID))
    }

    /// Makes the error of a file that is kept in the folder of the file's own that of the vault.
    func error(_ error: FileReplacementError) -> VaultError {
        // The vault's own file is beside that folder; everything else is in it.
        VaultError(error) { $0 == name ? $0 : (ownParts + [$0]).joined(separator: "/") }
    }

    /// Takes the lock of this name in the folder of the file's own, which is `own`.
    func lock(_ name: String, in own: borrowing Folder, timeout: Duration) throws(VaultError)
        -> FileLock
    {
        do {
            return try FileLock(name, in: own, timeout: timeout)
        } catch {
            throw VaultError(error, path: (ownParts + [name]).joined(separator: "/"))
        }
    }

    /// The same for a file in the folder of what is counted.
    static func error(_ error: FileReplacementError, of vaultID: [UInt8]) -> VaultError {
        VaultError(error) { pathOfCount($0, of: vaultID) }
    }

    /// Where a file in the folder of what is counted is, as its owner finds it.
    static func pathOfCount(_ name: String, of vaultID: [UInt8]) -> String {
        (countParts(vaultID) + [name]).joined(separator: "/")
    }

    private func made(_ parts: [String]) throws(VaultError) -> Folder {
        guard let folder = try open(parts, making: true) else { throw .notFound }
        return folder
    }

    private func open(_ parts: [String], making: Bool) throws(VaultError) -> Folder? {
        var folder = try VaultLocation.open(base)
        for (place, part) in parts.enumerated() {
            do {
                guard
                    let next = making
                        ? try folder.makePrivateFolder(part) : try folder.openPrivateFolder(part)
                else { return nil }
                folder = next
            } catch {
                switch error {
                case .inTheWay:
                    throw .inTheWay(name: parts[...place].joined(separator: "/"))
                case .system(let failure): throw .system(failure)
                }
            }
        }
        return folder
    }
}

extension VaultError {
    /// A folder that is missing, or no folder, holds no vault.
    fileprivate init(opening failure: SystemCallFailure) {
        self = failure.meansMissing ? .notFound : .system(failure)
    }
}
