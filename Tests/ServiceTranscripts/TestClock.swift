internal import Synchronization
package import Verification

/// A clock that the test advances.
package final class TestClock: Sendable {
    private let time: Mutex<UnixTime>
    private let passed: Mutex<Duration>
    private let start = ContinuousClock.now

    /// Starts at 2026-11-21 12:00:05 UTC, within a time step of 30 seconds.
    package init(_ time: UnixTime = UnixTime(seconds: 1_795_262_405)) {
        self.time = Mutex(time)
        passed = Mutex(.zero)
    }

    /// The wall clock.
    package var now: UnixTime { time.withLock { $0 } }

    package var instant: ContinuousClock.Instant { start + passed.withLock { $0 } }

    /// Advances both clocks.
    package func advance(milliseconds: Int64) {
        time.withLock { $0 = $0.adding(milliseconds: milliseconds) }
        if milliseconds > 0 { passed.withLock { $0 += .milliseconds(milliseconds) } }
    }

    /// Advances both clocks.
    package func advance(seconds: Int64) { advance(milliseconds: seconds * 1_000) }
}
