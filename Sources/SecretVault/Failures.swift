/// Failures in a row that were counted against one thing, and the wait that the last of them costs.
///
/// It is a pure decision: what it says hangs on itself and on a reading of the clocks. Within one
/// boot the wait is counted by the boot clock, so that setting the wall clock does nothing. Over a
/// reboot it is counted by the wall clock, which is never believed to stand before what it showed
/// already; where that takes nothing off the wait, the rest is waited for in the new boot, and no
/// longer than that.
struct Failures: Hashable {
    /// Failures in a row, at least 1.
    let count: UInt64
    /// Seconds that are to be waited for from the reading below on.
    let wait: UInt64
    /// The latest wall clock's time that was seen.
    let seen: UInt64
    let boot: [UInt8]
    let uptime: UInt64

    static let free: UInt64 = 5
    private static let minutes: [UInt64] = [1, 5, 15, 30, 60]

    /// Seconds to be waited for after so many failures in a row.
    static func wait(after count: UInt64) -> UInt64 {
        guard count >= free else { return 0 }
        return 60 * minutes[Int(min(count - free, UInt64(minutes.count - 1)))]
    }

    /// Seconds that are still to be waited for.
    func rest(at now: ClockReading) -> UInt64 {
        let passed = isSameBoot(now) ? now.uptime - uptime : max(now.wall, seen) - seen
        return wait > passed ? wait - passed : 0
    }

    /// The same, with what is left of the wait counted from `now` on, in the boot of `now`; `nil` where
    /// that is the boot already.
    func moved(to now: ClockReading) -> Failures? {
        isSameBoot(now) ? nil : Failures(count: count, wait: rest(at: now), at: now, seen: seen)
    }

    /// One failure more than `counted`, if the wait for it is over.
    static func adding(to counted: Failures?, at now: ClockReading) -> Failures {
        let count = min(counted?.count ?? 0, VaultLimits.number - 1) + 1
        return Failures(count: count, wait: wait(after: count), at: now, seen: counted?.seen ?? 0)
    }

    /// The same without the last failure, which was none; its wait had been waited for.
    func withoutLast() -> Failures? {
        guard count > 1 else { return nil }
        return Failures(count: count - 1, wait: 0, seen: seen, boot: boot, uptime: uptime)
    }

    init(count: UInt64, wait: UInt64, seen: UInt64, boot: [UInt8], uptime: UInt64) {
        self.count = count
        self.wait = wait
        self.seen = seen
        self.boot = boot
        self.uptime = uptime
    }

    private init(count: UInt64, wait: UInt64, at now: ClockReading, seen: UInt64) {
        self.init(
            count: count, wait: wait, seen: max(seen, now.wall), boot: now.boot, uptime: now.uptime)
    }

    // A boot clock that stands before what it showed is another boot's, whatever the boot is called.
    private func isSameBoot(_ now: ClockReading) -> Bool {
        boot == now.boot && now.uptime >= uptime
    }
}
