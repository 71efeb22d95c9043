internal import Synchronization

/// Limits how often the programs of each local user may ask about that user, so that they cannot
/// use up the user's attempts at once.
package final class OwnNameLimiter: Sendable {
    private let burst: Int
    private let interval: Duration
    /// When each user may use the whole burst again; users who may do so now have no entry.
    private let restored = Mutex<[UInt32: ContinuousClock.Instant]>([:])

    /// The maximum number of users with an entry.
    static let capacity = 4_096

    /// Allows `burst` requests at once, and then one in each `interval`.
    package init(burst: Int, interval: Duration) {
        self.burst = burst
        self.interval = interval
    }

    /// For attempts: three at once, and then one each minute.
    ///
    /// The caller gives back a successful attempt.
    package static func ofAttempts() -> OwnNameLimiter {
        OwnNameLimiter(burst: 3, interval: .seconds(60))
    }

    /// The number of users with an entry.
    var count: Int { restored.withLock { $0.count } }

    /// Counts a request and returns `nil`, or returns the number of seconds until the next one is
    /// permitted.
    package func take(_ user: UInt32, now: ContinuousClock.Instant) -> Int? {
        restored.withLock { restored in
            if restored.count >= Self.capacity { restored = restored.filter { $0.value > now } }
            // A user with a range of subordinate IDs can act as many users.
            guard restored[user] != nil || restored.count < Self.capacity else {
                return Self.seconds(interval)
            }
            let start = max(restored[user] ?? now, now)
            let wait = (start - now) - interval * (burst - 1)
            guard wait <= .zero else { return Self.seconds(wait) }
            restored[user] = start + interval
            return nil
        }
    }

    /// Gives back a request that was counted.
    package func giveBack(_ user: UInt32) {
        restored.withLock { restored in restored[user] = restored[user].map { $0 - interval } }
    }

    /// Whole seconds, rounded up.
    private static func seconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return Int(seconds) + (attoseconds > 0 ? 1 : 0)
    }
}
