package import POSIX
internal import SecretVault

/// Where a vault is: the same for two paths that lead to the same file name in the same folder.
package struct VaultPlace: Hashable, Sendable {
    package let folder: FolderIdentity
    /// The file's name in the folder.
    package let name: String
    /// The path of the file without symbolic links in its folder's path.
    package let path: String

    /// Finds the place of the vault at `path`.
    package init(at path: String) throws(SystemCallFailure) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        name = parts.last.map(String.init) ?? ""
        let above = path.dropLast(name.utf8.count)
        let folderPath = Folder.resolvedPath(above.isEmpty ? "." : String(above))
        self.path = folderPath + (folderPath.hasSuffix("/") ? "" : "/") + name
        folder = try FolderIdentity(at: folderPath)
    }

    /// The same path with another folder's identity, as a client that lies would send it.
    package func claiming(_ other: FolderIdentity) -> VaultPlace {
        VaultPlace(folder: other, name: name, path: path)
    }

    private init(folder: FolderIdentity, name: String, path: String) {
        self.folder = folder
        self.name = name
        self.path = path
    }

    /// The path of the folder.
    package var folderPath: String { String(path.dropLast(name.utf8.count + 1)) }

    // The path of a folder can change.
    package static func == (left: VaultPlace, right: VaultPlace) -> Bool {
        left.folder == right.folder && left.name == right.name
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(folder)
        hasher.combine(name)
    }
}

extension VaultPlace: Transferable {
    package func write(to output: FrameWriter) {
        output.append(folder.device)
        output.append(folder.number)
        output.append(name)
        output.append(path)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        folder = FolderIdentity(
            device: try fields.value(bytes), number: try fields.value(bytes))
        name = try fields.value(bytes)
        path = try fields.value(bytes)
        guard path.hasPrefix("/"), path.hasSuffix("/" + name), !name.isEmpty else {
            throw FieldReader.Unreadable()
        }
    }
}
