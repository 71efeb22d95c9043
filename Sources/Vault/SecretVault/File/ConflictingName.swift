internal import WatchwordSystem

extension VaultLocation {
    private static var copyLimit: Int { 16 }
    /// The total number of bytes of such files after which no further file is read.
    private static var readLimit: Int { 16 << 20 }

    /// Reports copies of the vault at this path that another program put beside it, unless the
    /// vault already includes them.
    ///
    /// The folder is read once; only files with such a name are opened. Copies that the vault's key
    /// opens come first, so that other files do not displace them. Equal files are verified once;
    /// after `readLimit` bytes, files are reported without being read.
    func conflictingCopies(
        of state: VaultState, with key: VaultKey, in folder: borrowing Folder,
        reading readLimit: Int = readLimit
    ) -> [VaultReport] {
        var (copies, others): ([VaultReport], [VaultReport]) = ([], [])
        var included: Set<[UInt8]> = []
        var left = readLimit
        for other in copyNames(of: state.vaultID, in: folder) {
            let path = path(beside: other)
            var isRekeyed = false
            do throws(VaultError) {
                guard left > 0 else { throw .busy }
                let bytes = try VaultLocation.read(other, in: folder)
                left -= bytes.count
                guard !included.contains(bytes) else { continue }
                let document = try VaultDocument(parsing: bytes)
                isRekeyed = state.isRekeyed(in: document)
                let copy = try VaultState(verifying: document, with: key)
                guard state.history.includes(copy.history), copy.changes == 0 else {
                    copies.append(.conflictingCopy(path: path))
                    continue
                }
                included.insert(bytes)
            } catch {
                // The file may contain changes that the vault lacks.
                others.append(
                    isRekeyed ? .rekeyedCopy(path: path) : .conflictingCopy(path: path))
            }
        }
        let found = copies + others
        let reports = Array(found.prefix(VaultLocation.copyLimit))
        let more = found.count - reports.count
        return more > 0 ? reports + [.moreConflictingCopies(count: more)] : reports
    }

    /// Reports the copies that remain after a save that erased older files of the vault.
    func copiesNotErased(of vaultID: [UInt8], in folder: borrowing Folder) -> [VaultReport] {
        let names = copyNames(of: vaultID, in: folder)
        let more = names.count - VaultLocation.copyLimit
        return names.prefix(VaultLocation.copyLimit).map { .copyNotErased(path: path(beside: $0)) }
            + (more > 0 ? [.moreConflictingCopies(count: more)] : [])
    }

    /// The files beside the vault with such a name and the vault's ID.
    private func copyNames(of vaultID: [UInt8], in folder: borrowing Folder) -> [String] {
        // If the folder cannot be listed, no copies are found.
        let names = ifPossible(try Folder.exactNames(at: self.folder)) ?? []
        var copies: [String] = []
        for (other, bytes) in names where ConflictingName.isName(other, ofCopyOf: name) {
            // A name that is not UTF-8 identifies the file only by its bytes.
            let start = folder.beginning(of: bytes, limit: VaultEnvelope.idLimit)
            guard start.flatMap(VaultEnvelope.vaultID(inBeginning:)) == vaultID else { continue }
            copies.append(other)
        }
        return copies
    }

    /// The path of the file `other` in the vault's folder.
    func path(beside other: String) -> String {
        folder == "." ? other : folder + (folder.hasSuffix("/") ? "" : "/") + other
    }
}

/// Recognises the names that other programs give to a copy of a file that was edited independently.
enum ConflictingName {
    /// Whether `other` is such a name for a copy of the file `name`.
    ///
    /// - Syncthing: `vault.sync-conflict-20261122-101010-ABCDEFG`
    /// - Dropbox: `vault (Ivan's conflicted copy 2026-11-22)`; Nextcloud and ownCloud:
    ///   `vault (conflicted copy 2026-11-22 101010)`; Seafile:
    ///   `vault (SFConflict ivan@example.com 2026-11-22-10-10-10)`
    /// - older ownCloud clients: `vault_conflict-20261122-101010`; rclone: `vault.conflict1`
    /// - git mergetool: `vault_BACKUP_123`, `vault_BASE_123`, `vault_LOCAL_123`,
    ///   `vault_REMOTE_123`, `vault.orig`
    ///
    /// Most programs put their mark before the extension, if there is one (`work (conflicted
    /// copy).vault`). The marks of rclone, and git's `.orig`, come after it.
    static func isName(_ other: String, ofCopyOf name: String) -> Bool {
        guard !other.utf8.elementsEqual(name.utf8) else { return false }
        if let mark = other.dropping(name, ""), mark == ".orig" || isConflict(mark) { return true }
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        guard let mark = other.dropping(name[..<dot], name[dot...]) else { return false }
        return isConflict(mark)
    }

    private static func isConflict(_ mark: Substring) -> Bool {
        if mark.hasPrefix(".sync-conflict-") || mark.hasPrefix("_conflict-") { return true }
        if let number = mark.dropping(".conflict", "") { return number.allSatisfy(\.isNumber) }
        for side in ["_BACKUP_", "_BASE_", "_LOCAL_", "_REMOTE_"] {
            if let number = mark.dropping(side, "") { return number.allSatisfy(\.isNumber) }
        }
        guard let words = mark.dropping(" (", ")")?.lowercased() else { return false }
        return words.contains("conflicted copy") || words.hasPrefix("sfconflict ")
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text between `start` and `end`; `nil` if this text does not begin and end with them.
    fileprivate func dropping(_ start: some StringProtocol, _ end: some StringProtocol)
        -> Substring?
    {
        guard hasPrefix(start), dropFirst(start.count).hasSuffix(end) else { return nil }
        return dropFirst(start.count).dropLast(end.count)
    }
}
