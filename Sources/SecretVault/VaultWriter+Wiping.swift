extension VaultWriter {
    /// Replaces these records' secrets with tombstones and erases older files, without the vault
    /// key.
    ///
    /// After an interruption, the whole operation can be repeated.
    ///
    /// - Throws: ``VaultError/notConfirmed(_:)`` and ``VaultError/previousNotErased(_:)`` if the
    ///   secrets are wiped, but perhaps not in every file.
    func wipe(_ ids: Set<RecordID>, leaving tombstone: Tombstone) throws(VaultError) {
        let document = try VaultDocument(parsing: read())
        // Erase the older file first: it also contains the secrets, and on a full disk its space is
        // needed.
        try eraseOwnButCurrent(of: document.vaultID)
        guard let wiped = try document.wiping(ids, leaving: tombstone) else { return }
        try save(wiped.bytes, of: wiped.vaultID, replacing: document.bytes, purging: true)
        _ = writeMark(of: wiped)
        do {
            try eraseAllButCurrent(of: document.vaultID)
        } catch .system(let failure) {
            throw .previousNotErased(failure)
        }
    }
}
