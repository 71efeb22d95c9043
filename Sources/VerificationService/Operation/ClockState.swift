package import Verification

/// What the kernel says of its clock.
package enum ClockState: Hashable, Sendable {
    /// Something keeps it right, within so many milliseconds.
    case synchronized(maximalError: Int64)
    /// Nothing keeps it right.
    case unsynchronized
    /// The kernel does not say, as in some sandboxes.
    case unknown
}

/// When a server may say that it is ready, as far as its clock goes (RFC 6238, section 3, R1).
package struct ClockRequirement: Sendable {
    /// No clock is right that is before this moment.
    package let builtAt: UnixTime
    /// Milliseconds that a clock may be wrong.
    package let tolerance: Int64
    /// Whether the kernel is asked; not on machines where it cannot know.
    package let asksKernel: Bool

    /// 2026-11-01, shortly before this was written: every right clock is beyond it.
    package static let builtAt = UnixTime(seconds: 1_793_491_200)

    /// Takes what a profile bears: as many steps as it looks to its narrower side, and half a step at
    /// least, beyond which right codes are refused.
    package init(
        profile: WindowProfile, asksKernel: Bool = true,
        builtAt: UnixTime = ClockRequirement.builtAt
    ) {
        self.builtAt = builtAt
        self.asksKernel = asksKernel
        tolerance = max(15_000, 30_000 * Int64(min(profile.behind, profile.ahead)))
    }

    /// Why the clock can't be trusted; nothing when it can.
    package func complaint(now: UnixTime, state: ClockState) -> String? {
        if now < builtAt { return "clock-before-build" }
        guard asksKernel else { return nil }
        switch state {
        case .synchronized(let error): return error > tolerance ? "clock-too-inexact" : nil
        case .unsynchronized: return "clock-unsynchronized"
        case .unknown: return "clock-unknown"
        }
    }
}
