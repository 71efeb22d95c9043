/// Attempts in a row that are counted against one thing, and the wait that the last of them costs.
///
/// An attempt is written down as undecided before it is made; it then turns out to be refused, or it
/// clears the count. One that stays undecided (the process was killed, the power failed) costs a wait
/// like a refused one, and nothing else: only refused attempts count towards a wipe.
///
/// What this decides depends on itself and on a reading of the clocks. Within one boot the wait is
/// measured by the boot clock, so setting the wall clock does nothing. Over a reboot it is measured by
/// the wall clock, which is never believed to stand before what it showed already; the rest is then
/// waited for in the new boot. Where the boot clock can't be trusted, a wait that another clock has
/// begun starts anew, and is measured by the wall clock.
struct Failures: Hashable {
    /// Attempts in a row that were checked and refused.
    let refused: UInt64
    /// Attempts since then, or among those, that are not decided; a killed program leaves them behind.
    let undecided: UInt64
    /// Seconds to wait from the reading below on.
    let wait: UInt64
    /// The latest time of the wall clock that was seen.
    let seen: UInt64
    let boot: [UInt8]
    let uptime: UInt64

    static let free: UInt64 = 5
    private static let minutes: [UInt64] = [1, 5, 15, 30, 60]

    /// All attempts that count towards a wait.
    var count: UInt64 { refused + undecided }

    /// Seconds to wait after so many attempts in a row.
    static func wait(after count: UInt64) -> UInt64 {
        guard count >= free else { return 0 }
        return 60 * minutes[Int(min(count - free, UInt64(minutes.count - 1)))]
    }

    /// Seconds that are still to be waited for.
    func rest(at now: ClockReading) -> UInt64 {
        let passed = passed(until: now)
        return wait > passed ? wait - passed : 0
    }

    /// The same, with what is left of the wait measured from `now` on; `nil` where that changes nothing.
    func moved(to now: ClockReading) -> Failures? {
        let isMeasured = now.knowsBoot ? isSameBoot(now) : !knowsBoot && now.wall >= seen
        guard !isMeasured else { return nil }
        return Failures(
            refused: refused, undecided: undecided, wait: rest(at: now), at: now, seen: seen)
    }

    /// One undecided attempt more than `counted`, if the wait for it is over.
    static func beginning(after counted: Failures?, at now: ClockReading) -> Failures {
        Failures(
            refused: counted?.refused ?? 0, undecided: least(counted?.undecided, 1), at: now,
            seen: counted?.seen ?? 0)
    }

    /// The same when one of the undecided attempts was refused.
    static func refusing(in counted: Failures?, at now: ClockReading) -> Failures {
        let undecided = counted?.undecided ?? 0
        return Failures(
            refused: least(counted?.refused, 1), undecided: undecided > 0 ? undecided - 1 : 0,
            at: now, seen: counted?.seen ?? 0)
    }

    /// The same without one of the undecided attempts, which was not made; the wait stays.
    func withdrawing() -> Failures? {
        guard undecided > 0 else { return self }
        guard count > 1 else { return nil }
        return Failures(
            refused: refused, undecided: undecided - 1,
            wait: min(wait, Failures.wait(after: count - 1)),
            seen: seen, boot: boot, uptime: uptime)
    }

    init(
        refused: UInt64, undecided: UInt64, wait: UInt64, seen: UInt64, boot: [UInt8],
        uptime: UInt64
    ) {
        self.refused = refused
        self.undecided = undecided
        self.wait = wait
        self.seen = seen
        self.boot = boot
        self.uptime = uptime
    }

    private init(
        refused: UInt64, undecided: UInt64, wait: UInt64? = nil, at now: ClockReading, seen: UInt64
    ) {
        self.init(
            refused: refused, undecided: undecided,
            wait: wait ?? Failures.wait(after: refused + undecided),
            // Where the wall clock is all there is, one that was far ahead for a moment must not
            // make the wait endless.
            seen: now.knowsBoot ? max(seen, now.wall) : now.wall, boot: now.boot,
            uptime: now.uptime)
    }

    private var knowsBoot: Bool { ClockReading.isKnown(boot) }

    private func passed(until now: ClockReading) -> UInt64 {
        if now.knowsBoot, isSameBoot(now) { return now.uptime - uptime }
        if !now.knowsBoot, knowsBoot { return 0 }
        return max(now.wall, seen) - seen
    }

    // A boot clock that stands before what it showed is another boot's, whatever the boot is called.
    private func isSameBoot(_ now: ClockReading) -> Bool {
        boot == now.boot && now.uptime >= uptime
    }

    // Counts up, and stays at its end.
    private static func least(_ count: UInt64?, _ more: UInt64) -> UInt64 {
        min((count ?? 0) + more, VaultLimits.number)
    }
}
