internal import WatchwordSystem

/// The access of other users to a vault's files, for instance after git or a file-sync client has
/// copied them.
public struct VaultExposure: Hashable, Sendable {
    /// The permission bits of the vault file; `nil` if only its owner can access the file.
    public let mode: UInt32?
    /// Whether other users can access the program's own files in `.watchword`.
    public let includesOwnFiles: Bool
    /// Whether other users can also write to the vault's folder, which is this user's and not
    /// sticky.
    public let includesFolder: Bool
    /// Whether other users can enter the vault's folder at all.
    public let isInReach: Bool
}

extension Vault {
    /// The access of other users to the vault at `path`; `nil` if they have none, or if the file is
    /// not a vault of this user.
    public static func exposure(at path: String) throws(VaultError) -> VaultExposure? {
        let location = try VaultLocation(path)
        let folder = try location.openFolder()
        guard let vaultID = location.vaultID(in: folder) else { return nil }
        let mode = try VaultError.system(in: folder.modeOpenToOthers(of: location.name))
        var includesOwnFiles = false
        try location.forEachOwnFolder(of: vaultID) { own, names throws(SystemCallFailure) in
            if try own.isOwnAndWritableByOthers() { includesOwnFiles = true }
            for name in names where try own.modeOpenToOthers(of: name) != nil {
                includesOwnFiles = true
            }
        }
        guard mode != nil || includesOwnFiles else { return nil }
        let isOwn = try VaultError.system(in: folder.isOwnAndWritableByOthers())
        let includesFolder = try isOwn ? location.exposure(of: folder) != nil : false
        return VaultExposure(
            mode: mode, includesOwnFiles: includesOwnFiles, includesFolder: includesFolder,
            isInReach: isInReach(path, mode, amongOthers: includesOwnFiles || includesFolder))
    }

    /// Whether other users can reach the vault, as far as this is known.
    ///
    /// If the permission bits allow users to read the file, but reading fails, they cannot enter a
    /// folder above it.
    ///
    /// - Parameter isAmongOthers: whether other files are exposed, too.
    private static func isInReach(
        _ path: String, _ mode: UInt32?, amongOthers isAmongOthers: Bool
    ) -> Bool {
        guard let mode else { return true }
        let readers = mode & 0o044
        let mayWriteOnly = (mode & 0o022) << 1 & ~readers != 0
        return mayWriteOnly || isAmongOthers && readers != 0o044
            || FileKind.isReadableByOthers(at: path)
    }

    /// Removes other users' access to the vault at `path` and to the program's own files about it,
    /// and their permission to write to its folder, unless the folder is sticky.
    ///
    /// Only regular files and folders of this user are changed; links are not followed.
    public static func closeToOthers(at path: String) throws(VaultError) {
        let location = try VaultLocation(path)
        let folder = try location.openFolder()
        guard let vaultID = location.vaultID(in: folder) else { return }
        if try location.exposure(of: folder) != nil {
            try VaultError.system(in: folder.closeToWritersOfOthers())
        }
        try VaultError.system(in: folder.closeToOthers(location.name))
        try location.forEachOwnFolder(of: vaultID) { own, names throws(SystemCallFailure) in
            try own.closeToWritersOfOthers()
            for name in names { try own.closeToOthers(name) }
        }
    }
}

extension VaultLocation {
    /// The ID of the vault at this path, whatever its permissions; `nil` if the file is not a vault
    /// of this user.
    func vaultID(in folder: borrowing Folder) -> [UInt8]? {
        folder.beginning(of: name, limit: VaultEnvelope.idLimit)
            .flatMap(VaultEnvelope.vaultID(inBeginning:))
    }

    /// Calls `body` with each existing folder in `.watchword` that belongs to this vault, and with
    /// the possible names of the files in it.
    ///
    /// A vault that is itself in such a folder has no such folders.
    fileprivate func forEachOwnFolder(
        of vaultID: [UInt8],
        _ body: (borrowing Folder, [String]) throws(SystemCallFailure) -> Void
    ) throws(VaultError) {
        guard !isKept else { return }
        let named =
            VaultLocation.files(of: VaultLocation.mark)
            + VaultLocation.files(of: VaultLocation.previous)
            + VaultLocation.files(of: VaultLocation.linked)
            + VaultLocation.files(of: VaultLocation.slots) + ["new", "displaced"]
        let counted =
            VaultLocation.files(of: VaultLocation.attempts)
            + VaultLocation.files(of: VaultLocation.uses)
        for (path, files) in [
            ([VaultLocation.stateFolderName], VaultLocation.files(of: VaultLocation.enrolled)),
            (ownParts, named), (VaultLocation.attemptsParts(vaultID), counted),
        ] {
            var folder = try VaultError.system(in: Folder(opening: self.folder))
            for (place, part) in path.enumerated() {
                let found = try VaultError.system(in: folder.openOwnFolder(part))
                guard let next = found else { break }
                folder = next
                try VaultError.system(in: body(folder, place == path.count - 1 ? files : []))
            }
        }
    }

    private static func files(of name: String) -> [String] { [name, name + ".new"] }
}

extension VaultEnvelope {
    /// The number of bytes at the start of a vault file that are sure to contain its ID.
    static let idLimit = 128

    /// The vault's ID in the beginning of a vault file of any version; `nil` if it is not a vault
    /// file.
    static func vaultID(inBeginning bytes: [UInt8]) -> [UInt8]? {
        guard bytes.starts(with: magic) else { return nil }
        var line = LineReader(bytes)
        return ifPossible(try line.vaultID())
    }
}

extension LineReader {
    /// Reads the vault's ID from the second line.
    fileprivate mutating func vaultID() throws(VaultError) -> [UInt8] {
        try next()
        try next()
        try skip("vault")
        return try base64(in: lastWord(), count: VaultDocument.vaultIDCount)
    }
}
