internal import Cryptography
internal import POSIX

extension Slot {
    /// Wraps the vault key under a passphrase.
    static func sealing(
        _ key: VaultKey, under passphrase: SecretBytes, cost: ScryptCost, number: Int,
        created now: Int64
    ) throws(VaultError) -> Slot {
        let created = max(now, 0)  // The file knows no time before 1970, a clock may.
        let salt = try Chance.bytes(count: saltCount)
        let wrapping = try Slot.wrappingKey(passphrase, salt: salt, cost: cost)
        let lead = Slot.lead(number: number, created: created, logN: cost.logN, salt: salt)
        let wrapped = try SealedBox.seal(
            key.secret, under: wrapping, associatedData: VaultLines.vault(key.vaultID) + lead)
        return Slot(
            number: number, created: created,
            method: .passphrase(logN: cost.logN, salt: salt, wrapped: wrapped))
    }

    /// Wraps the vault key under a recovery key.
    static func sealing(
        _ key: VaultKey, under recoveryKey: RecoveryKey, number: Int, created now: Int64
    ) throws(VaultError) -> Slot {
        let created = max(now, 0)
        let salt = try Chance.bytes(count: saltCount)
        let wrapping = try VaultKey.derive(.recoverySlot, from: recoveryKey.secret, salt: salt)
        let lead = Slot.lead(number: number, created: created, salt: salt)
        let wrapped = try SealedBox.seal(
            key.secret, under: wrapping, associatedData: VaultLines.vault(key.vaultID) + lead)
        return Slot(
            number: number, created: created, method: .recoveryKey(salt: salt, wrapped: wrapped))
    }

    /// Whether the slot is of the method that `opener` is for.
    func accepts(_ opener: VaultOpener) -> Bool {
        switch (method, opener) {
        case (.passphrase, .passphrase), (.recoveryKey, .recoveryKey): true
        default: false
        }
    }

    /// Whether what the slot asks for is paid.
    func isAffordable(ceiling: Int) -> Bool {
        guard case .passphrase(let logN, _, _) = method else { return true }
        do {
            _ = try Slot.cost(logN, ceiling: ceiling)
            return true
        } catch {
            return false
        }
    }

    /// Unwraps the vault key; `nil` when the slot is of another method, or does not open.
    func open(_ vaultID: [UInt8], with opener: VaultOpener, ceiling: Int)
        throws(VaultError) -> SecretBytes?
    {
        switch (method, opener) {
        case (.passphrase(let logN, let salt, let wrapped), .passphrase(let passphrase)):
            let cost = try Slot.cost(logN, ceiling: ceiling)
            let wrapping = try Slot.wrappingKey(passphrase, salt: salt, cost: cost)
            let lead = Slot.lead(number: number, created: created, logN: logN, salt: salt)
            return try Slot.unwrap(wrapped, under: wrapping, vaultID: vaultID, lead: lead)
        case (.recoveryKey(let salt, let wrapped), .recoveryKey(let recoveryKey)):
            let wrapping = try VaultKey.derive(.recoverySlot, from: recoveryKey.secret, salt: salt)
            let lead = Slot.lead(number: number, created: created, salt: salt)
            return try Slot.unwrap(wrapped, under: wrapping, vaultID: vaultID, lead: lead)
        default:
            return nil
        }
    }

    private static func unwrap(
        _ wrapped: [UInt8], under wrapping: SecretBytes, vaultID: [UInt8], lead: [UInt8]
    ) throws(VaultError) -> SecretBytes? {
        do {
            return try SealedBox.open(
                wrapped, under: wrapping, associatedData: VaultLines.vault(vaultID) + lead,
                or: .wrongPassphrase)
        } catch .wrongPassphrase {
            return nil
        }
    }

    private static func wrappingKey(_ passphrase: SecretBytes, salt: [UInt8], cost: ScryptCost)
        throws(VaultError) -> SecretBytes
    {
        let labelled = Array("watchword-vault 1 passphrase".utf8) + salt
        do {
            return try scrypt(
                passphrase: passphrase, salt: labelled.span, cost: cost, count: VaultKey.count)
        } catch {
            throw .cryptography(error)
        }
    }

    // A file may ask for any cost; what is paid is ours to decide.
    private static func cost(_ logN: Int, ceiling: Int) throws(VaultError) -> ScryptCost {
        do {
            let cost = try ScryptCost(logN: logN)
            guard logN <= ceiling, cost.memoryNeeded <= SystemMemory.size() else {
                throw VaultError.costOverCeiling(logN: logN, ceiling: ceiling)
            }
            return cost
        } catch {
            throw .costOverCeiling(logN: logN, ceiling: ceiling)
        }
    }
}

/// Why no slot gave the vault key away.
struct SlotRefusal: Error {
    let error: VaultError
    /// Whether a slot said no: whoever guesses has learned something.
    let isAnswer: Bool
}

extension VaultDocument {
    /// Whether there is a slot that a guess at `opener` can be tried on.
    func hasSlot(for opener: VaultOpener, ceiling: Int) -> Bool {
        slots.contains { $0.accepts(opener) && $0.isAffordable(ceiling: ceiling) }
    }

    /// Tries each slot that `opener` may open.
    func openedKey(with opener: VaultOpener, ceiling: Int) throws(SlotRefusal)
        -> (VaultKey, slot: Int)
    {
        var refusal: VaultError =
            switch opener {
            case .passphrase: .wrongPassphrase
            case .recoveryKey: .wrongRecoveryKey
            }
        var isAnswer = false
        for slot in slots where slot.accepts(opener) {
            do throws(VaultError) {
                if let key = try slot.open(vaultID, with: opener, ceiling: ceiling) {
                    return (VaultKey(secret: key, vaultID: vaultID), slot.number)
                }
                isAnswer = true
            } catch .costOverCeiling(let logN, let ceiling) {
                // Another slot may still open.
                refusal = .costOverCeiling(logN: logN, ceiling: ceiling)
            } catch {
                throw SlotRefusal(error: error, isAnswer: isAnswer)
            }
        }
        throw SlotRefusal(error: refusal, isAnswer: isAnswer)
    }

    /// Tries each slot that `opener` may open.
    func key(with opener: VaultOpener, ceiling: Int) throws(VaultError) -> (VaultKey, slot: Int) {
        do { return try openedKey(with: opener, ceiling: ceiling) } catch { throw error.error }
    }
}
