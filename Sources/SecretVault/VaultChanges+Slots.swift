public import Cryptography

extension VaultChanges {
    /// The ways to open the vault now.
    public var slots: [SlotSummary] { state.slots.map { SlotSummary($0.slot) } }

    /// Adds a passphrase beside the ways that there are.
    ///
    /// - Parameter now: Unix seconds, kept as the time when the slot was made.
    /// - Returns: the slot's number.
    @discardableResult public mutating func addPassphrase(
        _ passphrase: SecretBytes, cost: ScryptCost, now: Int64
    ) throws(VaultError) -> Int {
        let number = try freeNumber()
        insert(
            try TrustedSlot.sealing(
                key, under: passphrase, cost: cost, number: number, created: now))
        return number
    }

    /// Adds a recovery key beside the ways that there are.
    ///
    /// - Parameter recoveryKey: a new key, which its owner has in hand already: a key that is saved and
    ///   nobody has is a way in that nobody can use or knows of.
    public mutating func addRecoveryKey(_ recoveryKey: RecoveryKey, now: Int64) throws(VaultError) {
        insert(
            try TrustedSlot.sealing(key, under: recoveryKey, number: freeNumber(), created: now))
    }

    /// Puts another passphrase in the place of the one that the slot takes now.
    ///
    /// The vault gets another key, so that the old passphrase and an older file open nothing that is saved
    /// from now on. The previous generation goes, since the old passphrase would still open it.
    ///
    /// - Parameters:
    ///   - slot: as ``UnlockedVault/slots`` or ``slots`` has it; another one that was given its number
    ///     meanwhile is not touched.
    ///   - keepsKey: whether the vault keeps its key; the old passphrase and an older file then open all
    ///     that is ever saved.
    /// - Throws: ``VaultError/noSuchSlot``, also for a slot that takes no passphrase.
    public mutating func changePassphrase(
        of slot: SlotSummary, to passphrase: SecretBytes, cost: ScryptCost, now: Int64,
        keepsKey: Bool = false
    ) throws(VaultError) {
        let index = try index(of: slot)
        guard case .passphrase = state.slots[index].slot.method else { throw .noSuchSlot }
        state.slots[index] = try TrustedSlot.sealing(
            key, under: passphrase, cost: cost, number: slot.number, created: now)
        isChanged = true
        erasesPrevious = true
        if !keepsKey { try rekey() }
    }

    /// Takes a way to open the vault away, and gives the vault another key; the previous generation goes,
    /// too.
    ///
    /// - Parameters:
    ///   - slot: as ``UnlockedVault/slots`` or ``slots`` has it; another one that was given its number
    ///     meanwhile is not touched.
    ///   - keepsKey: whether the vault keeps its key; what the slot is opened by and an older file then
    ///     open all that is ever saved.
    /// - Throws: ``VaultError/noSuchSlot``; ``VaultError/lastSlot`` for the last one that opens the vault
    ///   on any device.
    public mutating func removeSlot(_ slot: SlotSummary, keepsKey: Bool = false)
        throws(VaultError)
    {
        let index = try index(of: slot)
        let isPortableLeft = state.slots.contains {
            $0.slot.number != slot.number && $0.slot.isPortable
        }
        guard isPortableLeft else { throw .lastSlot }
        state.slots.remove(at: index)
        isChanged = true
        erasesPrevious = true
        if !keepsKey { try rekey() }
    }

    // A number alone is not enough: it may have been given again since the caller saw it.
    private func index(of slot: SlotSummary) throws(VaultError) -> Int {
        guard let index = slots.firstIndex(of: slot) else { throw .noSuchSlot }
        return index
    }

    // The lowest free number, so that numbers stay small.
    private func freeNumber() throws(VaultError) -> Int {
        guard state.slots.count < VaultLimits.slots else { throw .overLimit(.slots) }
        var number = 1
        for slot in state.slots where slot.slot.number == number { number += 1 }
        return number
    }

    private mutating func insert(_ slot: TrustedSlot) {
        let index =
            state.slots.firstIndex { $0.slot.number > slot.slot.number } ?? state.slots.endIndex
        state.slots.insert(slot, at: index)
        isChanged = true
    }
}
