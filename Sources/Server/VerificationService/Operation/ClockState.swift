package import Verification

/// The kernel's report on its clock.
package enum ClockState: Hashable, Sendable {
    /// The clock is synchronised, with an error of at most this many milliseconds.
    case synchronized(maximumError: Int64)
    /// The clock is not synchronised.
    case unsynchronized
    /// The kernel does not report the state, for example in a sandbox.
    case unknown
}

/// Why a clock cannot be trusted; the raw value appears in responses and logs.
package enum ClockProblem: String, CaseIterable, Sendable {
    /// The clock shows a time before the release of the program.
    case beforeBuild = "clock-before-build"
    /// The clock is synchronised, but its error exceeds the tolerance.
    case tooInaccurate = "clock-too-inexact"
    /// The clock is not synchronised.
    case unsynchronized = "clock-unsynchronized"
    /// The kernel does not report the state.
    case unknown = "clock-unknown"
}

/// The requirements that a clock must meet for the server to be ready (RFC 6238, section 3, R1).
package struct ClockRequirement: Sendable {
    /// A clock that shows an earlier time is wrong.
    package let builtAt: UnixTime
    /// The maximum error of the clock in milliseconds.
    package let tolerance: Int64
    /// Whether to ask the kernel; `false` on machines whose kernel cannot report the state.
    package let asksKernel: Bool

    /// 2026-11-01, shortly before this code was written.
    package static let builtAt = UnixTime(seconds: 1_793_491_200)

    /// Derives the tolerance from the profile: the smaller of its windows behind and ahead, and at
    /// least half a time step.
    ///
    /// With a larger error, the verifier would deny correct codes.
    package init(
        profile: WindowProfile, asksKernel: Bool = true,
        builtAt: UnixTime = ClockRequirement.builtAt
    ) {
        self.builtAt = builtAt
        self.asksKernel = asksKernel
        tolerance = max(15_000, 30_000 * Int64(min(profile.behind, profile.ahead)))
    }

    /// Why the clock cannot be trusted; `nil` if it can.
    package func complaint(now: UnixTime, state: ClockState) -> ClockProblem? {
        if now < builtAt { return .beforeBuild }
        guard asksKernel else { return nil }
        switch state {
        case .synchronized(let error): return error > tolerance ? .tooInaccurate : nil
        case .unsynchronized: return .unsynchronized
        case .unknown: return .unknown
        }
    }
}
