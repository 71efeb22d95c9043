public import Devices
public import WatchwordCryptography

extension VaultChanges {
    /// The current slots, each of which is one way to open the vault.
    public var slots: [SlotSummary] { state.slots.map { SlotSummary($0.slot) } }

    /// Adds a slot that opens with a passphrase.
    ///
    /// - Parameter now: Unix seconds, stored as the creation time of the slot.
    /// - Returns: the slot's number.
    @discardableResult public mutating func addPassphrase(
        _ passphrase: SecretBytes, cost: ScryptCost, now: Int64
    ) throws(VaultError) -> Int {
        try add(.passphrase(passphrase, cost), now: now)
    }

    /// Adds a slot that opens with a recovery key.
    ///
    /// - Parameter recoveryKey: a new key that the owner has already received. Otherwise, a failure
    ///   in between would leave a slot whose key is lost.
    public mutating func addRecoveryKey(_ recoveryKey: RecoveryKey, now: Int64) throws(VaultError) {
        _ = try add(.recoveryKey(recoveryKey), now: now)
    }

    /// Adds a slot that opens with a TPM.
    ///
    /// - Parameters:
    ///   - object: `secret`, sealed by the TPM.
    ///   - secret: 32 random bytes.
    /// - Returns: the slot's number.
    @discardableResult public mutating func addTPM(
        _ object: TPMObject, sealing secret: SecretBytes, now: Int64
    ) throws(VaultError) -> Int {
        try add(.tpm2(secret, object), now: now)
    }

    /// Adds a slot that opens with an authenticator.
    ///
    /// - Parameter secret: the secret that the authenticator computes for the credential.
    /// - Returns: the slot's number.
    @discardableResult public mutating func addAuthenticator(
        _ credential: FIDOCredential, secret: SecretBytes, now: Int64
    ) throws(VaultError) -> Int {
        try add(.fido2(secret, credential), now: now)
    }

    /// Replaces the passphrase of a slot.
    ///
    /// The vault gets a new key, so the old passphrase, even together with an older file, cannot
    /// open anything that is saved from now on. The previous generation is erased, because the old
    /// passphrase would still open it.
    ///
    /// - Parameters:
    ///   - slot: an element of ``UnlockedVault/slots`` or ``slots``. If a different slot has reused
    ///     the number since, nothing is changed.
    ///   - cost: the cost of the new passphrase; `nil` for the standard cost, or the cost of the
    ///     former passphrase if that is greater.
    ///   - keepsKey: whether the vault keeps its key. If so, the old passphrase, together with an
    ///     older file, opens everything that is saved later.
    /// - Throws: ``VaultError/noSuchSlot``, also for a slot without a passphrase.
    public mutating func changePassphrase(
        of slot: SlotSummary, to passphrase: SecretBytes, cost: ScryptCost?, now: Int64,
        keepsKey: Bool = false
    ) throws(VaultError) {
        let index = try index(of: slot)
        guard case .passphrase(let logN, _) = state.slots[index].slot.method else {
            throw .noSuchSlot
        }
        let former = ScryptCost(logN: logN) ?? .standard
        let cost = cost ?? (former.logN > ScryptCost.standard.logN ? former : .standard)
        state.slots[index] = try TrustedSlot.sealing(
            key, under: .passphrase(passphrase, cost), number: slot.number, created: now)
        isChanged = true
        erasesPrevious = true
        if !keepsKey { try rekey() }
    }

    /// Removes a slot, gives the vault a new key, and erases the previous generation.
    ///
    /// - Parameters:
    ///   - slot: an element of ``UnlockedVault/slots`` or ``slots``. If a different slot has reused
    ///     the number since, nothing is removed.
    ///   - keepsKey: whether the vault keeps its key. If so, anyone who can open the slot in an
    ///     older file can open everything that is saved later.
    /// - Throws: ``VaultError/noSuchSlot``; ``VaultError/lastSlot`` for the last slot that opens
    ///   the vault on every device.
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

    // A new passphrase would also pass the checks that entries require at each use.
    private func expectPresence() throws(VaultError) {
        guard provesPresence else { throw .presenceNeeded }
    }

    // The number alone does not identify a slot: it may have been reused since the caller read it.
    private func index(of slot: SlotSummary) throws(VaultError) -> Int {
        try expectPresence()
        guard let index = slots.firstIndex(of: slot) else { throw .noSuchSlot }
        return index
    }

    // The lowest free number, so that numbers stay small.
    private func lowestFreeNumber() throws(VaultError) -> Int {
        try expectPresence()
        guard state.slots.count < VaultLimits.slots else { throw .overLimit(.slots) }
        var number = 1
        for slot in state.slots where slot.slot.number == number { number += 1 }
        return number
    }

    private mutating func add(_ opener: NewSlotOpener, now: Int64) throws(VaultError) -> Int {
        let number = try lowestFreeNumber()
        let slot = try TrustedSlot.sealing(key, under: opener, number: number, created: now)
        let index = state.slots.firstIndex { $0.slot.number > number } ?? state.slots.endIndex
        state.slots.insert(slot, at: index)
        isChanged = true
        return number
    }
}
