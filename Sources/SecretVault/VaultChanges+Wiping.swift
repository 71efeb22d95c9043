extension VaultChanges {
    /// Replaces an entry's secret with a tombstone, and erases the previous generation.
    ///
    /// An entry that was already wiped keeps its tombstone.
    ///
    /// - Parameter now: Unix seconds, stored as the time of the wipe.
    public mutating func wipe(
        _ id: RecordID, because reason: Tombstone.Reason, now: Int64
    ) throws(VaultError) {
        let record = state.records[try state.index(of: id)]
        guard case .sealed = record.body else { return }
        let tombstone = Tombstone(time: max(now, 0), reason: reason)
        var listed = record.listed
        listed.secret = .wiped(tombstone)
        try state.replace(
            VaultState.Record(line: record.line, listed: listed, body: .tombstone(tombstone)))
        forgetHolders()
        isChanged = true
        erasesPrevious = true
    }
}
