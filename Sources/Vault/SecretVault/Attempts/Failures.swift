internal import WatchwordSystem

/// The cost of failures in a row: the policy of this release.
///
/// The attempts file has limits of its own (``AttemptsFile/longestStoredWaits``), so that waits
/// recorded by other releases stay valid.
package enum LockOutPolicy {
    /// The first failure in a row that costs a wait, counted from 1.
    package static let firstFailureWithWait: UInt64 = 5
    /// The waits in minutes after that failure and after each further one; the last value is
    /// repeated.
    package static let minutes: [UInt64] = [1, 5, 15, 30, 60]

    /// Seconds to wait after this many failures in a row.
    static func wait(after count: UInt64) -> UInt64 {
        guard count >= firstFailureWithWait else { return 0 }
        return 60 * minutes[Int(min(count - firstFailureWithWait, UInt64(minutes.count - 1)))]
    }
}

/// Consecutive failed attempts at one subject, and the wait that the last one costs.
///
/// An attempt is recorded as undecided before it is made. It then becomes a refused attempt, or
/// clears the count. An attempt that stays undecided (the process was killed, or the power failed)
/// costs the same wait as a refused one, but only refused attempts count towards a wipe.
///
/// Every decision depends only on this value and on a clock reading. Within one boot, the boot
/// clock measures the wait, so setting the wall clock has no effect. Across a reboot, the wall
/// clock measures it and never counts as earlier than a time already seen; the new boot's clock
/// then measures the rest of the wait. If the boot clock cannot be trusted, a wait that started on
/// another clock restarts on the wall clock.
struct Failures: Hashable {
    /// Attempts in a row that were checked and refused.
    let refused: UInt64
    /// Attempts that were begun and have no outcome, such as those of a killed program.
    let undecided: UInt64
    /// Seconds to wait, counted from `start`.
    ///
    /// The wait was set by the policy of the release that counted the last attempt, and may have
    /// been shortened since. The policy of another release never lengthens the wait. If an attempt
    /// succeeds or is withdrawn, the wait is limited to the cost of the remaining attempts:
    /// ``limited(to:)``, ``withdrawing()``.
    let wait: UInt64
    /// The clocks when the wait began; its wall-clock time is the latest one that was seen.
    let start: ClockReading

    /// The number of attempts that count towards a wait.
    var count: UInt64 { refused + undecided }

    /// The remaining wait in seconds.
    func rest(at now: ClockReading) -> UInt64 {
        let passed = passed(until: now)
        return wait > passed ? wait - passed : 0
    }

    /// A copy that measures the rest of the wait from `now`; `nil` if nothing changes.
    func moved(to now: ClockReading) -> Failures? {
        let isMeasured =
            now.isBootKnown ? isSameBoot(now) : !start.isBootKnown && now.wall >= start.wall
        guard !isMeasured else { return nil }
        return Failures(
            refused: refused, undecided: undecided, wait: rest(at: now), at: now,
            seen: start.wall)
    }

    /// Adds an undecided attempt to `counted`, whose wait must be over.
    static func beginning(after counted: Failures?, at now: ClockReading) -> Failures {
        Failures(
            refused: counted?.refused ?? 0, undecided: least(counted?.undecided, 1), at: now,
            seen: counted?.start.wall ?? 0)
    }

    /// Turns an undecided attempt of `counted` into a refused one.
    static func refusing(in counted: Failures?, at now: ClockReading) -> Failures {
        let undecided = counted?.undecided ?? 0
        return Failures(
            refused: least(counted?.refused, 1), undecided: undecided > 0 ? undecided - 1 : 0,
            at: now, seen: counted?.start.wall ?? 0)
    }

    /// A copy with one undecided attempt fewer: that attempt was not made.
    ///
    /// The wait is kept, limited to what the remaining attempts cost.
    func withdrawing() -> Failures? {
        guard undecided > 0 else { return self }
        guard count > 1 else { return nil }
        return Failures(
            refused: refused, undecided: undecided - 1,
            wait: min(wait, LockOutPolicy.wait(after: count - 1)), start: start)
    }

    /// A copy with only `refused` attempts, and at most the wait that they cost; `nil` if `refused`
    /// is 0.
    func limited(to refused: UInt64) -> Failures? {
        guard refused > 0 else { return nil }
        return Failures(
            refused: refused, undecided: 0, wait: min(wait, LockOutPolicy.wait(after: refused)),
            start: start)
    }

    private func passed(until now: ClockReading) -> UInt64 {
        if now.isBootKnown, isSameBoot(now) { return now.uptime - start.uptime }
        if !now.isBootKnown, start.isBootKnown { return 0 }
        return max(now.wall, start.wall) - start.wall
    }

    // A boot clock that went backwards belongs to another boot, even if the boot ID is the same.
    private func isSameBoot(_ now: ClockReading) -> Bool {
        start.boot == now.boot && now.uptime >= start.uptime
    }

    // Adds, up to the largest number of the file format.
    private static func least(_ count: UInt64?, _ more: UInt64) -> UInt64 {
        min((count ?? 0) + more, VaultLimits.number)
    }
}

extension Failures {
    private init(
        refused: UInt64, undecided: UInt64, wait: UInt64? = nil, at now: ClockReading, seen: UInt64
    ) {
        self.init(
            refused: refused, undecided: undecided,
            wait: wait ?? LockOutPolicy.wait(after: refused + undecided),
            // If only the wall clock is available, a clock that was briefly far ahead must not make
            // the wait endless.
            start: ClockReading(
                seen: now.isBootKnown ? max(seen, now.wall) : now.wall, boot: now.boot,
                uptime: now.uptime))
    }
}

/// A reading of the system's clocks at one moment; the only time source for lock-outs.
public struct ClockReading: Hashable, Sendable {
    /// Unix seconds by the wall clock, which may have been set wrong; at least 0.
    public let wall: UInt64
    /// 16 bytes that identify one boot of the kernel; zeros if the boot is unknown or its clock may
    /// have been shifted.
    public let boot: [UInt8]
    /// Whole seconds since that boot, by a clock that cannot be set and that continues during
    /// system sleep.
    public let uptime: UInt64

    static let bootCount = 16
    private static let unknownBoot = [UInt8](repeating: 0, count: bootCount)

    /// Whether the uptime can be trusted.
    var isBootKnown: Bool { boot != ClockReading.unknownBoot }

    /// Combines the parts of an earlier reading.
    init(seen wall: UInt64, boot: [UInt8], uptime: UInt64) {
        (self.wall, self.boot, self.uptime) = (wall, boot, uptime)
    }

    /// Builds a reading; negative times become 0, and with an invalid boot ID, the boot counts as
    /// unknown.
    public init(wall: Int64, boot: [UInt8]?, uptime: Int64) {
        self.wall = UInt64(max(wall, 0))
        self.boot =
            boot.flatMap { $0.count == ClockReading.bootCount ? $0 : nil }
            ?? ClockReading.unknownBoot
        self.uptime = UInt64(max(uptime, 0))
    }

    /// Reads the system's clocks.
    ///
    /// The boot clock of a time namespace is ignored, because any user can create one and shift it.
    public static func now() -> ClockReading {
        ClockReading(
            wall: SystemClock.unixTime(),
            boot: SystemClock.isBootTimeShifted() ? nil : SystemClock.bootID(),
            uptime: SystemClock.bootTime())
    }
}
