package import LocalSockets
package import Verification
package import WatchwordCryptography
internal import WatchwordSystem

/// The operator's settings that affect requests and responses.
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
    /// The server addresses that devices use for device keys.
    package var audiences: [String] = []
    /// The trust anchors of TPMs; `nil` if no TPM is trusted.
    package var tpmRoots: TrustAnchors?
    /// Whether the listener speaks TLS.
    package var usesTLS = false
    /// The realm of this machine's accounts; `nil` if the server has no sockets for logins.
    package var realm: Realm?

    /// The default settings, with this requirement for the clock.
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
    /// The operator's remedy for a failure, which the response to `/readyz` contains.
    package var advice: @Sendable (ReadinessFailure) -> String? = { _ in nil }
    /// Called when the server becomes ready or not ready, or the cause changes; the closure must
    /// not block.
    package var readinessChanged: @Sendable (ReadinessFailure?) -> Void = { _ in }
    /// Called when codes are denied for many subjects; the closure must not block.
    package var sprayingNoticed: @Sendable () -> Void = {}
    /// The maintenance state of the database, for the metrics; the closure must not block.
    package var upkeep: @Sendable () -> Upkeep = { Upkeep() }
    /// The name of the account with this user ID; `nil` if there is none.
    package var accountName: @Sendable (UInt32) async -> String? = UserDatabase.findName
    /// Receives the log line of each request; the closure must not block.
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

/// The maintenance state of the database.
package struct Upkeep: Sendable {
    /// The time of the last complete backup; 1970 if there was none, `nil` if the time is unknown.
    package var lastBackup: UnixTime?
    /// The time at which the end of the event chain was last recorded outside the database, or at
    /// which the server started; `nil` if the time is unknown.
    package var lastCheckpoint: UnixTime?
    /// Whether the database has a fault with which it can still respond.
    package var hasTrouble = false

    /// The unknown state.
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

/// The reason why a clock cannot be trusted; the raw value appears in responses and logs.
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

/// The party that keeps the clock correct.
package enum ClockKeeper: Hashable, Sendable {
    /// The kernel, which must report that the clock is synchronised.
    case kernel
    /// The host of this container. The host's kernel may not report the state here. The server is
    /// therefore ready without a report, but deletes no data by this clock.
    case host
    /// The administrator, regardless of the kernel's report.
    case administrator
}

/// The requirements that a clock must meet for the server to be ready (RFC 6238, section 3, R1).
package struct ClockRequirement: Sendable {
    /// The maximum error of the clock in milliseconds.
    package let tolerance: Int64
    package let keeper: ClockKeeper

    /// 2026-11-01, shortly before this code was written.
    ///
    /// A clock with an earlier time is wrong.
    package static let builtAt = UnixTime(seconds: 1_793_491_200)

    /// Derives the tolerance from the profile: the smaller of its windows behind and ahead, and at
    /// least half a time step.
    ///
    /// With a larger error, the verifier would deny correct codes.
    package init(profile: WindowProfile, keeper: ClockKeeper = .kernel) {
        self.keeper = keeper
        tolerance = max(15_000, 30_000 * Int64(min(profile.behind, profile.ahead)))
    }

    /// The reason why no irreversible action may depend on the clock; `nil` if the clock can be
    /// trusted.
    package func complaint(now: UnixTime, state: ClockState) -> ClockProblem? {
        if now < Self.builtAt { return .beforeBuild }
        guard keeper != .administrator else { return nil }
        switch state {
        case .synchronized(let error): return error > tolerance ? .tooInaccurate : nil
        case .unsynchronized: return .unsynchronized
        case .unknown: return .unknown
        }
    }

    /// The reason why the server is not ready with this clock; `nil` if the server is ready.
    package func obstacle(now: UnixTime, state: ClockState) -> ClockProblem? {
        doubt(now: now, state: state) == nil ? complaint(now: now, state: state) : nil
    }

    /// The reason why the clock cannot be trusted, although the server is ready; `nil` if the clock
    /// can be trusted.
    package func doubt(now: UnixTime, state: ClockState) -> ClockProblem? {
        guard keeper == .host else { return nil }
        let complaint = complaint(now: now, state: state)
        return [.unsynchronized, .unknown].contains(complaint) ? complaint : nil
    }
}
