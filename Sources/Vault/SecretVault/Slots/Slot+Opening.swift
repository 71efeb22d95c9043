internal import Devices
internal import WatchwordCryptography
internal import WatchwordSystem

/// The means by which a new slot opens.
enum NewSlotOpener {
    case passphrase(SecretBytes, ScryptCost)
    case recoveryKey(RecoveryKey)
    /// A secret, and the object that a TPM has made by sealing it.
    case tpm2(SecretBytes, TPMObject)
    /// The secret that an authenticator computes for this credential.
    case fido2(SecretBytes, FIDOCredential)
}

extension TrustedSlot {
    /// A new slot that `opener` opens, with the vault key sealed to it.
    ///
    /// Each slot gets its own key pair, so no private key outlives the passphrase that protected
    /// it.
    static func sealing(
        _ key: VaultKey, under opener: NewSlotOpener, number: Int, created now: Int64
    ) throws(VaultError) -> TrustedSlot {
        let salt = Randomness.bytes(count: Slot.saltCount)
        let wrapping: SecretBytes
        let method: SlotHead.Method
        switch opener {
        case .passphrase(let passphrase, let cost):
            wrapping = try Slot.wrappingKey(passphrase, salt: salt, cost: cost)
            method = .passphrase(logN: cost.logN, salt: salt)
        case .recoveryKey(let recoveryKey):
            wrapping = VaultKey.derive(.recoverySlot, from: recoveryKey.secret, salt: salt)
            method = .recoveryKey(salt: salt)
        case .tpm2(let secret, let object):
            wrapping = VaultKey.derive(.tpm2Slot, from: secret, salt: salt)
            method = .tpm2(object, salt: salt)
        case .fido2(let secret, let credential):
            wrapping = VaultKey.derive(.fido2Slot, from: secret, salt: salt)
            method = .fido2(credential, salt: salt)
        }
        let secret = try SlotSecret.make()
        let head = SlotHead(
            number: number, created: max(now, 0),  // The file cannot represent times before 1970.
            method: method, publicKey: secret.pair.publicKey)
        let box = SealedBox.seal(
            secret.plaintext, under: wrapping,
            associatedData: VaultLines.vault(key.vaultID) + head.text)
        let empty = Slot(head: head, secret: Base64.encode(box.span), vaultKey: [])
        return try TrustedSlot(slot: empty, authenticationKey: secret.authenticationKey)
            .holding(key)
    }
}

extension Slot {
    /// Opens the slot; `nil` if its method is different or it does not open.
    ///
    /// - Throws: ``VaultError/damaged(_:)`` if the slot opens but contains no vault key: the file
    ///   was tampered with.
    fileprivate func open(_ vaultID: [UInt8], with opener: VaultOpener) throws(VaultError)
        -> VaultKey?
    {
        let wrapping: SecretBytes
        switch (method, opener) {
        case (.passphrase(let logN, let salt), .passphrase(let passphrase)):
            guard let cost = ScryptCost(logN: logN) else { return nil }
            wrapping = try Slot.wrappingKey(passphrase, salt: salt, cost: cost)
        case (.recoveryKey(let salt), .recoveryKey(let recoveryKey)):
            wrapping = VaultKey.derive(.recoverySlot, from: recoveryKey.secret, salt: salt)
        case (.tpm2(_, let salt), .device(let secret, _)):
            wrapping = VaultKey.derive(.tpm2Slot, from: secret, salt: salt)
        case (.fido2(_, let salt), .device(let secret, _)):
            wrapping = VaultKey.derive(.fido2Slot, from: secret, salt: salt)
        default:
            return nil
        }
        guard let secret = try secret(under: wrapping, vaultID) else { return nil }
        return try SealedVaultKey.open(
            vaultKey, with: secret, vaultID: vaultID, lead: lead, or: .damaged(.slot(number)))
    }

    private func secret(under wrapping: SecretBytes, _ vaultID: [UInt8]) throws(VaultError)
        -> SlotSecret?
    {
        guard let box = ifPossible(try Base64.decode(secret.span)) else { return nil }
        let plaintext: SecretBytes
        do throws(VaultError) {
            plaintext = try SealedBox.open(
                box, under: wrapping, associatedData: VaultLines.vault(vaultID) + head.text,
                or: .wrongPassphrase)
        } catch .wrongPassphrase {
            return nil
        }
        return try SlotSecret(reading: plaintext)
    }

    fileprivate static func wrappingKey(
        _ passphrase: SecretBytes, salt: [UInt8], cost: ScryptCost
    ) throws(VaultError) -> SecretBytes {
        let labelled = Array("watchword-vault 1 passphrase".utf8) + salt
        return try VaultError.cryptography(
            in: scrypt(
                passphrase: passphrase, salt: labelled.span, cost: cost, count: VaultKey.count))
    }
}

/// A slot that has opened, with the vault key and the state of the vault.
struct OpenedSlot {
    let number: Int
    let key: VaultKey
    let state: VaultState
}

/// The outcome of an attempt on all slots that were tried.
enum SlotsOutcome {
    /// A slot yielded the vault key.
    case opened(OpenedSlot)
    /// All slots of this method rejected the guess.
    case refused(VaultError)
    /// At least one slot rejected the guess, and another slot was not tried or could not be read:
    /// an attacker has learned something, but the guess may still be right.
    case undecided(VaultError)
    /// No slot rejected the guess.
    case notTried(VaultError)

    /// The slot that opened; throws if none did.
    func get() throws(VaultError) -> OpenedSlot {
        switch self {
        case .opened(let slot): return slot
        case .refused(let error), .undecided(let error), .notTried(let error): throw error
        }
    }
}

extension VaultDocument {
    /// Whether `opener` can be tried on any slot.
    func hasSlot(for opener: VaultOpener, ceiling: Int) -> Bool {
        !UnlockPlan(of: slots, for: opener, ceiling: ceiling).slots.isEmpty
    }

    /// Tries the slots that `opener` may open, within the cost `ceiling`.
    ///
    /// Anyone who can write the file can add a slot that opens with their own passphrase. The key
    /// in such a slot does not authenticate the vault, so the slot counts as damaged.
    func outcome(of opener: VaultOpener, ceiling: Int) -> SlotsOutcome {
        let plan = UnlockPlan(of: slots, for: opener, ceiling: ceiling)
        var isRejected = false
        var damage: VaultError?
        for slot in plan.slots {
            do throws(VaultError) {
                if let key = try slot.open(vaultID, with: opener) {
                    let state = try VaultState(verifying: self, with: key)
                    return .opened(OpenedSlot(number: slot.number, key: key, state: state))
                }
                isRejected = true
            } catch {
                guard case .damaged = error else {
                    return isRejected ? .undecided(error) : .notTried(error)
                }
                // Another slot may still open.
                damage = error
            }
        }
        guard let error = damage ?? plan.refusal else { return .refused(opener.refusal) }
        return isRejected ? .undecided(error) : .notTried(error)
    }

    /// Tries the slots that `opener` may open, within the cost `ceiling`; throws unless one opens.
    func opened(with opener: VaultOpener, ceiling: Int) throws(VaultError) -> OpenedSlot {
        try outcome(of: opener, ceiling: ceiling).get()
    }
}

extension VaultOpener {
    /// The error if the passphrase, recovery key or device does not open the vault.
    fileprivate var refusal: VaultError {
        switch self {
        case .passphrase: .wrongPassphrase
        case .recoveryKey: .wrongRecoveryKey
        case .device: .wrongDevice
        }
    }
}

/// The slots to try, chosen before any work is done.
///
/// The file sets the cost of trying a passphrase slot, so an attacker who can write the file can
/// set any cost. The slots are therefore tried in order of cost, as long as their total cost stays
/// within the ceiling. Added slots can neither make unlocking exceed the ceiling nor prevent a
/// cheaper slot from being tried.
struct UnlockPlan {
    /// The slots to try, the cheapest first.
    let slots: [Slot]
    /// The reason why slots were left out; `nil` if none were.
    let refusal: VaultError?

    /// - Parameter ceiling: the base-2 logarithm of the maximum sum of scrypt's N over all slots.
    init(of slots: [Slot], for opener: VaultOpener, ceiling: Int) {
        let accepting = slots.filter { $0.accepts(opener) }
        var chosen: [Slot] = []
        var refusal: VaultError?
        var budget = UInt64(1) << UInt64(min(ceiling, VaultLimits.unlockCeiling))
        // The slot's number makes the order deterministic.
        for slot in accepting.sorted(by: { ($0.logN, $0.number) < ($1.logN, $1.number) }) {
            if case .passphrase(let logN, _) = slot.method {
                let most = SystemMemory.limit()
                guard let cost = ScryptCost(logN: logN), UInt64(1) << UInt64(logN) <= budget
                else {
                    refusal = .costOverCeiling(
                        logN: UnlockPlan.logarithm(ofAll: accepting), ceiling: ceiling)
                    break
                }
                guard cost.memoryNeeded <= most else {
                    refusal = .notEnoughMemory(needed: cost.memoryNeeded, limit: most)
                    break
                }
                budget -= UInt64(1) << UInt64(logN)
            }
            chosen.append(slot)
        }
        self.slots = chosen
        self.refusal = refusal
    }

    /// The base-2 logarithm of the cost of trying all of these slots, rounded up.
    static func logarithm(ofAll slots: [Slot]) -> Int {
        var total: UInt64 = 0
        for slot in slots where slot.logN > 0 {
            let (sum, isOver) = total.addingReportingOverflow(UInt64(1) << UInt64(slot.logN))
            total = isOver ? .max : sum
        }
        return total <= 1 ? 0 : UInt64.bitWidth - (total - 1).leadingZeroBitCount
    }
}

extension Slot {
    /// The base-2 logarithm of scrypt's N; 0 for a slot without scrypt.
    fileprivate var logN: Int {
        if case .passphrase(let logN, _) = method { logN } else { 0 }
    }

    /// Whether `opener` can be tried on the slot, according to the slot's method.
    fileprivate func accepts(_ opener: VaultOpener) -> Bool {
        switch (method, opener) {
        case (.passphrase, .passphrase), (.recoveryKey, .recoveryKey): true
        case (.tpm2, .device(_, let slot)), (.fido2, .device(_, let slot)):
            SlotSummary(self) == slot
        default: false
        }
    }
}
