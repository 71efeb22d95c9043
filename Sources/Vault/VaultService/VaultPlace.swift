package import WatchwordSystem

/// The place of a vault: two paths to the same file name in the same folder have equal places.
package struct VaultPlace: Hashable, Sendable {
    package let folder: FolderIdentity
    /// The file's name in the folder.
    package let name: String
    /// The path of the file without symbolic links in its folder's path.
    package let path: String
    /// In the agent, the number of the only connection for which the vault was opened; 0 if the
    /// vault was unlocked for all connections.
    ///
    /// The number is never sent.
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

    /// The place in requests to the system agent, which uses the place of the user's vault and
    /// ignores the one in the request.
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

    // Paths are not compared, because the path of a folder can change. Names are compared by their
    // bytes, as in the file system: `String` treats different encodings of a text as equal.
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
