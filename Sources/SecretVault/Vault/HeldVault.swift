/// An open vault that several threads use: each gets an ``UnlockedVault`` of its own.
///
/// The threads then coordinate as processes do, through the locks of the vault's files, and none
/// waits for a check that another makes.
package struct HeldVault: Sendable {
    private let location: VaultLocation
    private let key: VaultKey
    private let openedSlot: Int
    private let ceiling: Int
    private let state: VaultState
    private let generationReport: VaultReport?
    private let reports: [VaultReport]

    /// Holds what `vault` knows.
    package init(_ vault: UnlockedVault) {
        location = vault.location
        key = vault.key
        openedSlot = vault.openedSlot
        ceiling = vault.ceiling
        state = vault.state
        generationReport = vault.generationReport
        reports = vault.foundReports
    }

    /// A vault for one thread.
    package func vault() -> UnlockedVault {
        UnlockedVault(
            location: location, key: key, slot: openedSlot, ceiling: ceiling, readOnly: false,
            state: state, generationReport: generationReport, reports: reports)
    }
}

extension UnlockedVault {
    /// One entry.
    ///
    /// - Throws: ``VaultError/noSuchEntry``.
    package func entry(_ id: RecordID) throws(VaultError) -> EntrySummary {
        state.records[try state.index(of: id)].summary
    }
}
