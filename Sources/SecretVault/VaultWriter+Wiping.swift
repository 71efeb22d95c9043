extension VaultWriter {
    /// Puts a tombstone in the place of each of these records' secrets, in the file and in what was
    /// kept of older ones; the vault key is not needed.
    ///
    /// Whoever was killed at this begins again: what is done already is found done.
    ///
    /// - Throws: ``VaultError/notConfirmed(_:)`` and ``VaultError/previousNotErased(_:)`` when the
    ///   secrets are gone, but perhaps not everywhere.
    func wipe(_ ids: Set<RecordID>, leaving tombstone: Tombstone) throws(VaultError) {
        let document = try VaultDocument(parsing: read())
        // The older file goes first: it holds the secrets, too, and a full disk needs its room.
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
