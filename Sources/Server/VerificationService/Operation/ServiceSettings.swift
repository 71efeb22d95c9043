package import Verification
package import WatchwordCryptography

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
