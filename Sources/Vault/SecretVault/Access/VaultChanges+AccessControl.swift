public import WatchwordSystem

extension VaultChanges {
    /// Changes when the entry requires a presence check, and what failed checks cost.
    ///
    /// The secret is resealed, because its box is bound to the unencrypted part of the record.
    ///
    /// - Throws: ``VaultError/noSuchEntry``, ``VaultError/wiped``.
    public mutating func setAccessControl(
        of id: RecordID, to accessControl: AccessControl, now: Int64 = SystemClock.unixTime()
    ) throws(VaultError) {
        let old = state.records[try state.index(of: id)]
        let line = RecordLine(
            id: id, revision: state.generation, accessControl: accessControl)
        var properties = old.listed.properties
        properties.edited = edit(at: now)
        let record = try VaultState.Record.sealing(
            old.opened(with: key), as: line, properties, under: key)
        try state.replace(record)
        isChanged = true
    }
}
