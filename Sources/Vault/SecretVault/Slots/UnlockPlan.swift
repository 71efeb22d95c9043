internal import WatchwordCryptography
internal import WatchwordSystem

/// The slots to try, chosen before any work is done.
///
/// The file sets the cost of trying a passphrase slot, so an attacker who can write the file can
/// set any cost. The slots are therefore tried in order of cost, as long as their total cost stays
/// within the ceiling. Added slots can neither make unlocking exceed the ceiling nor prevent a
/// cheaper slot from being tried.
struct UnlockPlan {
    /// The slots to try, the cheapest first.
    let slots: [Slot]
    /// Why slots were left out, if any were.
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
                guard let cost = ScryptCost(ifInRange: logN), UInt64(1) << UInt64(logN) <= budget
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

    /// Whether the slot's method matches `opener`.
    fileprivate func accepts(_ opener: VaultOpener) -> Bool {
        switch (method, opener) {
        case (.passphrase, .passphrase), (.recoveryKey, .recoveryKey): true
        case (.tpm2, .device(_, let slot)), (.fido2, .device(_, let slot)):
            SlotSummary(self) == slot
        default: false
        }
    }
}

extension ScryptCost {
    /// The cost of N = 2^`logN`; `nil` if it is out of range.
    init?(ifInRange logN: Int) {
        guard let cost = ifPossible(try ScryptCost(logN: logN)) else { return nil }
        self = cost
    }
}
