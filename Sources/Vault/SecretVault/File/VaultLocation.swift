internal import WatchwordSystem

/// The paths of a vault and of the files that the program keeps for it.
///
/// Those files are in the folder `.watchword` beside the vault: files of the vault with this name
/// in `by-name/NAME`, and counted attempts and last uses of the vault with this ID, whatever its
/// name, in `by-id/ID`. The file `enrolled` belongs to all vaults in the folder. No vault can be
/// created in that folder, so the name of a vault never collides with another vault's files.
struct VaultLocation {
    let folder: String
    let name: String
    /// The path of the folder that holds `.watchword`.
    let base: String
    /// Whether the vault itself is in a `.watchword` folder: such a vault is a kept generation, and
    /// read-only.
    let isKept: Bool
    /// The path of the vault whose previous generation this is; `nil` for an ordinary vault.
    let owner: String?

    /// The name of the folder for all files that the program keeps.
    static let stateFolderName = ".watchword"

    // Files in `by-name/NAME`.
    static let lock = "lock"
    static let loginLock = "login.lock"
    static let moveLock = "move.lock"
    static let mark = "generation"
    static let previous = "previous"
    static let linked = "linked"
    static let slots = "slots"

    // Files in `by-id/ID`.
    static let attempts = "attempts"
    static let attemptsLock = "attempts.lock"
    static let presenceLock = "presence.lock"
    static let uses = "uses"
    static let usesLock = "uses.lock"

    // Files in `.watchword` itself.
    static let enrolled = "enrolled"
    static let enrolledLock = "enrolled.lock"

    /// Parses a path; one that ends in a slash or a dot is a folder.
    init(_ path: String) throws(VaultError) {
        let start = Folder.nameStart(in: path)
        name = String(path[start...])
        guard !["", ".", ".."].contains(name) else { throw .folder }
        let above = path[..<start]
        let folder = above.isEmpty ? "." : String(above)
        let resolved = Folder.parts(of: Folder.resolvedPath(folder))
        if let place = resolved.firstIndex(where: { VaultLocation.isStateFolderName($0) }) {
            base = "/" + resolved[..<place].joined(separator: "/")
            isKept = true
        } else {
            base = folder
            isKept = false
        }
        let parts = resolved.drop { !VaultLocation.isStateFolderName($0) }.dropFirst()
        if parts.count == 2, parts.first == "by-name", let vault = parts.last {
            owner = base + "/" + vault
        } else {
            owner = nil
        }
        self.folder = folder
    }

    /// Whether the path is reserved: `.watchword` itself, or anything in such a folder.
    var isReserved: Bool { isKept || VaultLocation.isStateFolderName(name) }

    /// Throws if the path is reserved.
    func requireUnreservedPath() throws(VaultError) {
        guard !isReserved else { throw .reservedPath }
    }

    // Some file systems are case-insensitive.
    private static func isStateFolderName(_ name: some StringProtocol) -> Bool {
        name.lowercased() == stateFolderName
    }

    /// Opens the folder; throws ``VaultError/notFound`` if it is missing.
    func openFolder() throws(VaultError) -> Folder { try VaultLocation.open(folder) }

    /// The warning about the folder's owner or permissions, if any.
    func exposure(of folder: borrowing Folder) throws(VaultError) -> VaultReport? {
        try VaultError.system(in: folder.exposure()).map(VaultReport.init)
    }

    /// Creates the folder, open to its owner only, unless it exists.
    func makeFolder() throws(VaultError) {
        try VaultError.system(in: Folder.make(folder))
    }

    /// Whether a file of any type exists at the vault's path.
    func containsFile(in folder: borrowing Folder) throws(VaultError) -> Bool {
        try VaultError.system(in: folder.holds(name))
    }

    /// Reads the vault file; needs no lock, because the file is always complete.
    ///
    /// - Parameter largest: the size of the largest file to read.
    /// - Throws: ``VaultError/busy`` if the file is larger.
    func read(upTo largest: Int = .max) throws(VaultError) -> [UInt8] {
        try VaultLocation.read(name, in: openFolder(), upTo: largest)
    }

    static func read(
        _ name: String, in folder: borrowing Folder, upTo largest: Int = .max
    ) throws(VaultError) -> [UInt8] {
        do throws(VaultError) {
            return try VaultError.file(
                in: folder.readPrivateFile(name, limit: min(largest, VaultLimits.fileSize)))
        } catch .tooLarge where largest < VaultLimits.fileSize {
            throw .busy
        }
    }

    /// Reads the vault file, and keeps it open.
    func hold(in folder: borrowing Folder) throws(VaultError) -> OpenPrivateFile {
        try VaultError.file(in: folder.holdPrivateFile(name, limit: VaultLimits.fileSize))
    }

    // A folder that is missing, or is not a folder, contains no vault.
    private static func open(_ path: String) throws(VaultError) -> Folder {
        do throws(VaultError) {
            return try VaultError.system(in: Folder(opening: path))
        } catch .system(let failure) where failure.isMissing {
            throw .notFound
        }
    }
}

// Access to the files that the program keeps.
extension VaultLocation {
    /// The path components of the vault file's own folder.
    var ownParts: [String] { [VaultLocation.stateFolderName, "by-name", name] }

    /// The locations of all other names in this folder that have a folder in `by-name`.
    func others() throws(VaultError) -> [VaultLocation] {
        let folders = base + "/" + ownParts.dropLast().joined(separator: "/")
        let names = try VaultError.system(in: Folder.names(at: folders))
        var others: [VaultLocation] = []
        // Names are compared by their bytes, as in the file system: `String` treats different
        // encodings of a text as equal.
        for other in names where !other.utf8.elementsEqual(name.utf8) {
            others.append(try VaultLocation(folder + "/" + other))
        }
        return others
    }

    static func attemptsParts(_ vaultID: [UInt8]) -> [String] {
        let digits = vaultID.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return [stateFolderName, "by-id", digits.joined()]
    }

    /// Opens the vault file's own folder; `nil` if there is none.
    func openStateFolder() throws(VaultError) -> Folder? {
        isKept ? nil : try open(ownParts, making: false)
    }

    /// Whether the vault file's own folder contains a previous generation.
    func holdsPrevious() throws(VaultError) -> Bool {
        guard let found = try VaultError.ifFound(openStateFolder()), let own = found else {
            return false
        }
        return VaultLocation.holdsPrevious(in: own)
    }

    static func holdsPrevious(in own: borrowing Folder) -> Bool {
        let magic = VaultEnvelope.magic
        return own.beginning(of: previous, limit: magic.count)?.elementsEqual(magic) ?? false
    }

    /// The bytes of the previous generation; `nil` if there is none.
    ///
    /// - Parameter largest: the size of the largest file to read.
    func previousGeneration(upTo largest: Int) throws(VaultError) -> [UInt8]? {
        guard let found = try VaultError.ifFound(openStateFolder()), let own = found else {
            return nil
        }
        return try VaultError.ifFound(
            VaultLocation.read(VaultLocation.previous, in: own, upTo: largest))
    }

    /// Opens the vault file's own folder; creates it if there is none.
    func makeStateFolder() throws(VaultError) -> Folder {
        guard !isKept else { throw .previousGeneration }
        return try made(ownParts)
    }

    /// Opens the folder of counted attempts at the vault with this ID; `nil` if there is none.
    func openAttemptsFolder(of vaultID: [UInt8]) throws(VaultError) -> Folder? {
        try open(VaultLocation.attemptsParts(vaultID), making: false)
    }

    /// Opens the folder of counted attempts at the vault with this ID; creates it if there is none.
    func makeAttemptsFolder(of vaultID: [UInt8]) throws(VaultError) -> Folder {
        try made(VaultLocation.attemptsParts(vaultID))
    }

    /// Removes the folder of counted attempts at the vault with this ID, if it is empty.
    func removeAttemptsFolder(of vaultID: [UInt8]) throws(VaultError) {
        let parts = VaultLocation.attemptsParts(vaultID)
        guard let folder = try open(parts.dropLast(), making: false), let name = parts.last else {
            return
        }
        try VaultError.system(in: folder.removeFolder(name))
    }

    static let rootParts = [stateFolderName]

    /// Opens the folder `.watchword`; `nil` if there is none.
    func openRootFolder() throws(VaultError) -> Folder? {
        try open(VaultLocation.rootParts, making: false)
    }

    /// Opens the folder `.watchword`; creates it if there is none.
    func makeRootFolder() throws(VaultError) -> Folder { try made(VaultLocation.rootParts) }

    /// The path of a file in the vault's folder or in the vault file's own folder, relative to the
    /// vault's folder.
    ///
    /// The vault file is directly in the vault's folder; every other file is in the vault file's
    /// own folder.
    func path(of file: String) -> String {
        file == name ? file : VaultLocation.path(of: file, in: ownParts)
    }

    /// The path of a file in the folder with this path, both relative to the vault's folder.
    static func path(of file: String, in folder: [String]) -> String {
        (folder + [file]).joined(separator: "/")
    }

    /// Takes the lock with this name in `own`, which is the vault file's own folder.
    func lock(_ name: String, in own: borrowing Folder, timeout: Duration) throws(VaultError)
        -> FileLock
    {
        try VaultLocation.lock(name, in: own, at: ownParts, timeout: timeout)
    }

    /// Takes the lock with this name in `folder`.
    ///
    /// - Parameter parts: the path of the folder, relative to the vault's folder.
    static func lock(
        _ name: String, in folder: borrowing Folder, at parts: [String], sharing: Bool = false,
        timeout: Duration
    ) throws(VaultError) -> FileLock {
        let path = path(of: name, in: parts)
        do throws(VaultError) {
            return try VaultError.file(
                in: FileLock(name, in: folder, sharing: sharing, timeout: timeout)
            ) { _ in path }
        } catch .system(let failure) where failure.isNotRegularFile {
            throw .inTheWay(name: path)
        }
    }

    /// Reads a file that the program keeps in `folder`; `nil` if there is none.
    ///
    /// - Parameter parts: the path of the folder, relative to the vault's folder.
    /// - Throws: ``VaultError/inTheWay(name:)`` if a file of a different type has this name.
    static func read(
        _ name: String, in folder: borrowing Folder, at parts: [String], limit: Int
    ) throws(VaultError) -> [UInt8]? {
        do {
            return try folder.readPrivateFile(name, limit: limit)
        } catch {
            switch error {
            case .missing: return nil
            case .system(let failure): throw .system(failure)
            default: throw .inTheWay(name: path(of: name, in: parts))
            }
        }
    }

    private func made(_ parts: [String]) throws(VaultError) -> Folder {
        guard let folder = try open(parts, making: true) else { throw .notFound }
        return folder
    }

    private func open(_ parts: [String], making: Bool) throws(VaultError) -> Folder? {
        var folder = try VaultLocation.open(base)
        for (place, part) in parts.enumerated() {
            let found = try VaultError.file(
                in: making
                    ? folder.makePrivateFolder(part) : folder.openPrivateFolder(part)
            ) { _ in parts[...place].joined(separator: "/") }
            guard let next = found else { return nil }
            folder = next
        }
        return folder
    }
}
