package import WatchwordSystem

/// Where a vault is: the same for two paths that lead to the same file name in the same folder.
package struct VaultPlace: Hashable, Sendable {
    package let folder: FolderIdentity
    /// The file's name in the folder.
    package let name: String
    /// The path of the file without symbolic links in its folder's path.
    package let path: String
    /// In the agent: the only connection for which the vault was opened; 0 if it was unlocked for
    /// all.
    ///
    /// It is never sent.
    package private(set) var connection: UInt64 = 0

    /// Finds the place of the vault at `path`.
    package init(at path: String) throws(SystemCallFailure) {
        let start = Folder.nameStart(in: path)
        name = String(path[start...])
        let above = path[..<start]
        let folderPath = Folder.resolvedPath(above.isEmpty ? "." : String(above))
        self.path = folderPath + (folderPath.hasSuffix("/") ? "" : "/") + name
        folder = try FolderIdentity(at: folderPath)
    }

    /// The same place for one connection only.
    package func only(for connection: UInt64) -> VaultPlace {
        var place = self
        place.connection = connection
        return place
    }

    /// What a client asks the system agent for: the agent knows the place of each user's vault, and
    /// ignores what the client sends.
    package static let ofSystem = VaultPlace(
        folder: FolderIdentity(device: 0, number: 0), name: SystemAgent.vaultName,
        path: "\(SystemAgent.stateFolder)/\(CurrentProcess.user)/\(SystemAgent.vaultName)")

    init(folder: FolderIdentity, name: String, path: String) {
        self.folder = folder
        self.name = name
        self.path = path
    }

    /// The path of the folder.
    package var folderPath: String {
        let above = String(path[..<Folder.nameStart(in: path)])
        return above == "/" ? above : String(above.unicodeScalars.dropLast())
    }

    // The path of a folder can change. Names are compared as the file system does: `String` takes
    // different bytes for the same text.
    package static func == (left: VaultPlace, right: VaultPlace) -> Bool {
        left.folder == right.folder && left.name.utf8.elementsEqual(right.name.utf8)
            && left.connection == right.connection
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(folder)
        hasher.combine(Array(name.utf8))
        hasher.combine(connection)
    }
}

extension VaultPlace: Transferable {
    package func write(to output: FrameWriter) {
        output.append(folder, name, path)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(folder:name:path:), from: bytes)
        let rest = path[Folder.nameStart(in: path)...]
        guard path.utf8.first == UInt8(ascii: "/"), rest.utf8.elementsEqual(name.utf8),
            !name.isEmpty, !path.utf8.contains(0)
        else { throw Unreadable() }
    }
}

extension FolderIdentity: Transferable {
    package func write(to output: FrameWriter) { output.append(device, number) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(device:number:), from: bytes)
    }
}
