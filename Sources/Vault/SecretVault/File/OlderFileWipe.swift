/// Which records' secrets a wipe takes from an older file of the vault.
struct OlderFileWipe {
    /// The failures that are counted beside the vault.
    let attempts: Attempts
    /// The records that are wiped whatever the older file says about them; `nil` stands for a file
    /// that cannot be read.
    let regardless: (VaultDocument?) -> Set<RecordID>

    /// The records to wipe in `older`: also those that must be wiped according to their own lines.
    ///
    /// Anybody who can write the vault can change the lines there, so they alone decide nothing here.
    func records(of older: VaultDocument) -> Set<RecordID> {
        regardless(older).union(attempts.due(in: older.countedLines, by: older.slotsDigest))
    }
}
