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
    /// What the operator can do about a failure, which the response to `/readyz` contains.
    package var advice: @Sendable (ReadinessFailure) -> String? = { _ in nil }
    /// Called when the server becomes ready or not ready, or the cause changes; it must not block.
    package var readinessChanged: @Sendable (ReadinessFailure?) -> Void = { _ in }
    /// Called when codes are denied for many subjects; it must not block.
    package var sprayingNoticed: @Sendable () -> Void = {}
    /// How the database is cared for, for the metrics; it must not block.
    package var upkeep: @Sendable () -> Upkeep = { Upkeep() }
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

/// How the database is cared for.
package struct Upkeep: Sendable {
    /// When the last backup was complete; 1970 if there was none, `nil` if that is unknown.
    package var lastBackup: UnixTime?
    /// When the end of the event chain was last recorded outside the database, or else when the
    /// server started; `nil` if that is unknown.
    package var lastCheckpoint: UnixTime?
    /// Whether the database has a fault that does not stop it from answering.
    package var hasTrouble = false

    /// Nothing is known.
    package init() {}
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

/// Who keeps the clock right.
package enum ClockKeeper: Hashable, Sendable {
    /// The kernel, which must report that the clock is synchronised.
    case kernel
    /// The host of this container. Its kernel may not report the state here, so the server is ready
    /// without a report, but deletes nothing by this clock.
    case host
    /// The administrator, whatever the kernel reports.
    case administrator
}

/// The requirements that a clock must meet for the server to be ready (RFC 6238, section 3, R1).
package struct ClockRequirement: Sendable {
    /// The maximum error of the clock in milliseconds.
    package let tolerance: Int64
    package let keeper: ClockKeeper

    /// 2026-11-01, shortly before this code was written; a clock that shows an earlier time is
    /// wrong.
    package static let builtAt = UnixTime(seconds: 1_793_491_200)

    /// Derives the tolerance from the profile: the smaller of its windows behind and ahead, and at
    /// least half a time step.
    ///
    /// With a larger error, the verifier would deny correct codes.
    package init(profile: WindowProfile, keeper: ClockKeeper = .kernel) {
        self.keeper = keeper
        tolerance = max(15_000, 30_000 * Int64(min(profile.behind, profile.ahead)))
    }

    /// Why nothing irreversible may depend on the clock; `nil` if it can be trusted.
    package func complaint(now: UnixTime, state: ClockState) -> ClockProblem? {
        if now < Self.builtAt { return .beforeBuild }
        guard keeper != .administrator else { return nil }
        switch state {
        case .synchronized(let error): return error > tolerance ? .tooInaccurate : nil
        case .unsynchronized: return .unsynchronized
        case .unknown: return .unknown
        }
    }

    /// Why the server is not ready with this clock; `nil` if it is.
    package func obstacle(now: UnixTime, state: ClockState) -> ClockProblem? {
        doubt(now: now, state: state) == nil ? complaint(now: now, state: state) : nil
    }

    /// Why the clock cannot be trusted, although the server is ready; `nil` if it can.
    package func doubt(now: UnixTime, state: ClockState) -> ClockProblem? {
        guard keeper == .host else { return nil }
        let complaint = complaint(now: now, state: state)
        return [.unsynchronized, .unknown].contains(complaint) ? complaint : nil
    }
}
