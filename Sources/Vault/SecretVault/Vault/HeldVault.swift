internal import WatchwordCryptography
package import WatchwordSystem

/// An open vault that several threads use: each thread gets its own ``UnlockedVault``.
///
/// The threads coordinate as processes do, through the locks of the vault's files, and no thread
/// waits for a check that another thread makes.
package struct HeldVault: Sendable {
    private let location: VaultLocation
    private let slot: OpenedSlot
    private let ceiling: Int
    private let reports: FoundReports

    /// Holds the key, the state and the reports of `vault`.
    package init(_ vault: UnlockedVault) {
        location = vault.location
        slot = OpenedSlot(number: vault.openedSlot, key: vault.key, state: vault.state)
        ceiling = vault.ceiling
        reports = FoundReports(generation: vault.generationReport, others: vault.foundReports)
    }

    /// A new ``UnlockedVault``, for one thread.
    package func vault() -> UnlockedVault {
        UnlockedVault(
            slot, at: location, ceiling: ceiling, isReadOnly: false, reports: reports)
    }

    /// The keys alone, without the state of the vault.
    package var heldKey: HeldKey { HeldKey(key: slot.key) }

    /// The stamp of the file that ``UnlockedVault/refresh()`` reads; `nil` if the file is missing
    /// or cannot be accessed.
    package func stamp() -> FileStamp? { FileStamp(of: location.folder + "/" + location.name) }

    /// The size in bytes of the file whose state is held.
    package var fileSize: Int64 { Int64(slot.state.fileSize) }

    /// Whether this holds a newer state of the file than `other`.
    package func isNewer(than other: HeldVault) -> Bool {
        let (own, others) = (slot.state, other.slot.state)
        return (own.generation, own.changes) > (others.generation, others.changes)
    }
}

/// The key of a ``HeldVault``, and the keys of this device, which all threads share.
package struct HeldKey: Sendable {
    fileprivate let key: VaultKey

    /// Wipes the keys at once; later operations on the vault that need a key throw
    /// ``VaultError/busy``.
    package func wipe() { key.wipe() }

    /// Whether the vault's key cannot be written to swap.
    package var isLocked: Bool { key.isLocked }
}

extension UnlockedVault {
    /// Checks that `opener` opens this vault; a failure counts like a failed attempt to unlock.
    ///
    /// - Throws: ``VaultError/replaced`` or ``VaultError/rekeyed`` if `opener` opens the file, but
    ///   yields a different key.
    package func confirm(
        _ opener: VaultOpener, ceiling: Int? = nil
    ) throws(VaultError) {
        let path = location.folder + "/" + location.name
        let again = try Vault.unlock(
            at: path, with: opener, ceiling: ceiling ?? self.ceiling, mode: .leavingWipes)
        guard again.key.vaultID == key.vaultID else { throw .replaced }
        guard try again.key.isEqual(to: key) else { throw .rekeyed }
    }
}
