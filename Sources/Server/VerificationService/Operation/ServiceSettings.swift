package import LocalSockets
package import Verification
package import WatchwordCryptography
internal import WatchwordSystem

/// The operator's settings.
package struct ServiceSettings: Sendable {
    /// The permitted rate of requests without an API key from one client address.
    package var addressRate = AddressRate.standard
    /// The proxies whose `X-Forwarded-For` is trusted.
    package var trustedProxies = TrustedProxies.none
    /// The requirements for the clock.
    package let clock: ClockRequirement
    /// The pages for browsers; `nil` if the server offers none.
    package var pages: PageSettings?
    /// The relying party for passkeys; `nil` if the server offers none.
    package var passkeys: PasskeySettings?
    /// The addresses at which device keys reach the server.
    package var audiences: [String] = []
    /// The trust anchors of TPMs; `nil` if none is trusted.
    package var tpmRoots: TrustAnchors?
    /// Whether the listener speaks TLS.
    package var usesTLS = false
    /// The realm of this machine's accounts; `nil` if the server has no sockets for logins.
    package var realm: Realm?

    /// The standard settings.
    package init(clock: ClockRequirement) { self.clock = clock }
}

/// The dependencies of the service, which tests replace.
package struct ServiceDependencies: Sendable {
    /// The wall clock; it must be the verifier's.
    package let now: @Sendable () -> UnixTime
    /// A monotonic clock, for durations and rates.
    package var instant: @Sendable () -> ContinuousClock.Instant = { .now }
    /// The kernel's report on the wall clock.
    package let clockState: @Sendable () -> ClockState
    /// The source of request ids.
    package var randomness = RandomSource.system
    /// Called when the server becomes ready or not ready, or the cause changes; it must not block.
    package var readinessChanged: @Sendable (ReadinessFailure?) -> Void = { _ in }
    /// Called when codes are denied for many subjects; it must not block.
    package var sprayingNoticed: @Sendable () -> Void = {}
    /// The name of the account with this user ID; `nil` if there is none.
    package var accountName: @Sendable (UInt32) async -> String? = UserDatabase.findName
    /// Receives the log line of each request; it must not block.
    package let log: @Sendable (LogLine) -> Void

    package init(
        now: @escaping @Sendable () -> UnixTime, clockState: @escaping @Sendable () -> ClockState,
        log: @escaping @Sendable (LogLine) -> Void
    ) {
        self.now = now
        self.clockState = clockState
        self.log = log
    }
}

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
    /// The maximum error of the clock in milliseconds.
    package let tolerance: Int64
    /// Whether to ask the kernel; `false` on machines whose kernel cannot report the state.
    package let asksKernel: Bool

    /// 2026-11-01, shortly before this code was written; a clock that shows an earlier time is
    /// wrong.
    package static let builtAt = UnixTime(seconds: 1_793_491_200)

    /// Derives the tolerance from the profile: the smaller of its windows behind and ahead, and at
    /// least half a time step.
    ///
    /// With a larger error, the verifier would deny correct codes.
    package init(profile: WindowProfile, asksKernel: Bool = true) {
        self.asksKernel = asksKernel
        tolerance = max(15_000, 30_000 * Int64(min(profile.behind, profile.ahead)))
    }

    /// Why the clock cannot be trusted; `nil` if it can.
    package func complaint(now: UnixTime, state: ClockState) -> ClockProblem? {
        if now < Self.builtAt { return .beforeBuild }
        guard asksKernel else { return nil }
        switch state {
        case .synchronized(let error): return error > tolerance ? .tooInaccurate : nil
        case .unsynchronized: return .unsynchronized
        case .unknown: return .unknown
        }
    }
}
