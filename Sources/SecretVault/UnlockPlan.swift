internal import Cryptography
internal import POSIX

/// The slots that something is tried on, chosen before any work is done.
///
/// What a passphrase slot costs to try is written in the file, and whoever can write the file could ask
/// for any cost. So the slots are tried from the cheapest on, and none whose cost would take the sum of all
/// over the ceiling: slots that somebody added can neither make unlocking take longer than that, nor keep a
/// cheaper slot from being tried.
struct UnlockPlan {
    /// The slots to try, the cheapest first.
    let slots: [Slot]
    /// Why the others are left out, if there are any.
    let refusal: VaultError?

    /// - Parameter ceiling: the base-two logarithm of the most that all of scrypt's Ns together may be.
    init(of slots: [Slot], for opener: VaultOpener, ceiling: Int) {
        let accepting = slots.filter { $0.accepts(opener) }
        var chosen: [Slot] = []
        var refusal: VaultError?
        var budget = UInt64(1) << UInt64(min(ceiling, VaultLimits.unlockCeiling))
        // Sorting is stable here by the slot's number.
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

    /// The base-two logarithm of what trying all of these costs, rounded up.
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
    /// The base-two logarithm of scrypt's N; 0 for a slot that costs nothing to try.
    fileprivate var logN: Int {
        if case .passphrase(let logN, _) = method { logN } else { 0 }
    }

    /// Whether the slot is of the method that `opener` is for.
    fileprivate func accepts(_ opener: VaultOpener) -> Bool {
        switch (method, opener) {
        case (.passphrase, .passphrase), (.recoveryKey, .recoveryKey): true
        default: false
        }
    }
}

extension ScryptCost {
    /// The cost of N = 2^`logN`; `nil` when nobody pays that.
    init?(ifInRange logN: Int) {
        do { try self.init(logN: logN) } catch { return nil }
    }
}
