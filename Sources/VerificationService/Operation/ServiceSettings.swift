package import Verification

/// What an operator chooses.
package struct ServiceSettings: Sendable {
    /// How often one client address may ask without an API key.
    package let addressRate: AddressRate
    /// Whose `X-Forwarded-For` is believed.
    package let trustedProxies: TrustedProxies
    /// When the clock is good enough.
    package let clock: ClockRequirement

    /// Takes what is chosen.
    package init(
        addressRate: AddressRate = .standard, trustedProxies: TrustedProxies = .none,
        clock: ClockRequirement
    ) {
        self.addressRate = addressRate
        self.trustedProxies = trustedProxies
        self.clock = clock
    }
}

/// What the service asks of the world, so that a test can be the world.
package struct ServiceSurroundings: Sendable {
    /// The wall clock; the same as the verifier's.
    package let now: @Sendable () -> UnixTime
    /// A clock that never jumps, for durations and rates.
    package let instant: @Sendable () -> ContinuousClock.Instant
    /// What the kernel says of the wall clock.
    package let clockState: @Sendable () -> ClockState
    /// Random bytes for the names of requests.
    package let randomness: RandomSource
    /// Takes a line about each request; it must not wait for anybody.
    package let log: @Sendable (LogLine) -> Void

    /// Takes all of them.
    package init(
        now: @escaping @Sendable () -> UnixTime,
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        clockState: @escaping @Sendable () -> ClockState,
        randomness: RandomSource = .system, log: @escaping @Sendable (LogLine) -> Void
    ) {
        self.now = now
        self.instant = instant
        self.clockState = clockState
        self.randomness = randomness
        self.log = log
    }
}
