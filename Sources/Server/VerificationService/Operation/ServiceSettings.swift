package import Verification
package import WatchwordCryptography

/// The operator's settings.
package struct ServiceSettings: Sendable {
    /// The permitted rate of requests without an API key from one client address.
    package let addressRate: AddressRate
    /// The proxies whose `X-Forwarded-For` is trusted.
    package let trustedProxies: TrustedProxies
    /// The requirements for the clock.
    package let clock: ClockRequirement
    /// The pages for browsers; `nil` if the server offers none.
    package let pages: PageSettings?
    /// The relying party for passkeys; `nil` if the server offers none.
    package let passkeys: PasskeySettings?
    /// The addresses at which device keys reach the server.
    package let audiences: [String]
    /// The trust anchors of TPMs; `nil` if none is trusted.
    package let tpmRoots: TrustAnchors?
    /// Whether the listener speaks TLS.
    package let usesTLS: Bool

    package init(
        addressRate: AddressRate = .standard, trustedProxies: TrustedProxies = .none,
        clock: ClockRequirement, pages: PageSettings? = nil, passkeys: PasskeySettings? = nil,
        audiences: [String] = [], tpmRoots: TrustAnchors? = nil, usesTLS: Bool = false
    ) {
        self.addressRate = addressRate
        self.trustedProxies = trustedProxies
        self.clock = clock
        self.pages = pages
        self.passkeys = passkeys
        self.audiences = audiences
        self.tpmRoots = tpmRoots
        self.usesTLS = usesTLS
    }
}

/// The dependencies of the service, which tests replace.
package struct ServiceDependencies: Sendable {
    /// The wall clock; it must be the verifier's.
    package let now: @Sendable () -> UnixTime
    /// A monotonic clock, for durations and rates.
    package let instant: @Sendable () -> ContinuousClock.Instant
    /// The kernel's report on the wall clock.
    package let clockState: @Sendable () -> ClockState
    /// The source of request ids.
    package let randomness: RandomSource
    /// Called when the server becomes ready or not ready, or the cause changes; it must not block.
    package let readinessChanged: @Sendable (ReadinessFailure?) -> Void
    /// Called when codes are denied for many subjects; it must not block.
    package let sprayingNoticed: @Sendable () -> Void
    /// Receives the log line of each request; it must not block.
    package let log: @Sendable (LogLine) -> Void

    package init(
        now: @escaping @Sendable () -> UnixTime,
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        clockState: @escaping @Sendable () -> ClockState,
        randomness: RandomSource = .system,
        readinessChanged: @escaping @Sendable (ReadinessFailure?) -> Void = { _ in },
        sprayingNoticed: @escaping @Sendable () -> Void = {},
        log: @escaping @Sendable (LogLine) -> Void
    ) {
        self.now = now
        self.instant = instant
        self.clockState = clockState
        self.randomness = randomness
        self.readinessChanged = readinessChanged
        self.sprayingNoticed = sprayingNoticed
        self.log = log
    }
}
