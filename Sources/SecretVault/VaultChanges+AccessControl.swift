extension VaultChanges {
    /// Changes who must be there before the entry opens, and what failing costs.
    ///
    /// The secret is sealed anew: the clear part of a record belongs to its box.
    ///
    /// - Throws: ``VaultError/noSuchEntry``, ``VaultError/wiped``.
    public mutating func setAccessControl(of id: RecordID, to accessControl: AccessControl)
        throws(VaultError)
    {
        let old = state.records[try state.index(of: id)]
        let line = RecordLine(
            id: id, revision: state.generation, accessControl: accessControl)
        let record = try VaultState.Record.sealing(
            old.opened(with: key), as: line, created: old.listed.created,
            issuer: old.listed.issuer, account: old.listed.account, traits: old.listed.traits,
            under: key)
        try state.replace(record)
        isChanged = true
    }
}
