internal import WatchwordSystem

/// The `linked` file: older files of the vault that a wipe without the vault key could not erase,
/// because they have a second name.
///
/// The next process that opens the vault reports them, and the next save with the key removes this
/// file. Like the `generation` file, it is not authenticated.
enum LinkedFileRecord {
    private static let firstLine = "watchword-linked 1\n"
    /// More files than a person would look for.
    private static let limit = 16
    private static let sizeLimit = 1024

    private static var file: FileReplacement {
        FileReplacement(of: VaultLocation.linked, beginningWith: Array(firstLine.utf8))
    }

    /// The recorded files of the vault file at `location`.
    static func read(of location: VaultLocation) throws(VaultError) -> [LinkedFile] {
        guard let own = try location.openStateFolder() else { return [] }
        return read(in: own)
    }

    /// The recorded files; empty if there are none, or none that can be read.
    ///
    /// - Parameter own: the folder of the files that belong to the vault file.
    static func read(in own: borrowing Folder) -> [LinkedFile] {
        let bytes = ifPossible(try own.readPrivateFile(VaultLocation.linked, limit: sizeLimit))
        guard let bytes, bytes.starts(with: firstLine.utf8) else { return [] }
        return bytes.dropFirst(firstLine.utf8.count).split(separator: UInt8(ascii: "\n"))
            .compactMap { UInt64(String(decoding: $0, as: UTF8.self)) }
            .prefix(limit).map { LinkedFile(number: $0) }
    }

    /// Adds `files` to the record.
    ///
    /// If this fails, they are not reported, and the wipe is not affected.
    static func add(_ files: [LinkedFile], in own: borrowing Folder) {
        guard !files.isEmpty else { return }
        let all = (read(in: own) + files).suffix(limit)
        let text = firstLine + all.map { "\($0.number)\n" }.joined()
        _ = ifPossible(
            try file.replace(with: Array(text.utf8).span, in: own, previous: .none))
    }

    /// Removes the record, which was reported.
    static func remove(in own: borrowing Folder) {
        _ = ifPossible(try file.remove(in: own))
    }
}
