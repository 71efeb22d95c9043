internal import Glibc

/// A point in time for deadlines, on a clock that cannot be set and continues during system sleep.
///
/// `ContinuousClock` reads the same clock. It belongs to Swift's concurrency library, which depends
/// on libdispatch: a program that uses nothing else from either would load both at every start.
public struct Moment: Comparable, Sendable {
    /// The time since the kernel started.
    public let sinceStart: Duration

    /// The current time.
    public static var now: Moment {
        var now = timespec()
        // CLOCK_BOOTTIME has existed since Linux 2.6.39; the call cannot fail with a valid address.
        unsafe clock_gettime(CLOCK_BOOTTIME, &now)
        return Moment(sinceStart: .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec))
    }

    /// The time since the kernel started without system sleep.
    public static func awakeTime() -> Duration {
        var now = timespec()
        // Every Linux has CLOCK_MONOTONIC; the call cannot fail with a valid address.
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
    }

    /// The time until this moment; zero if it has passed.
    public var timeRemaining: Duration { max(sinceStart - Moment.now.sinceStart, .zero) }

    /// The moment that is `time` later.
    public static func + (moment: Moment, time: Duration) -> Moment {
        Moment(sinceStart: moment.sinceStart + time)
    }

    /// Whether `left` is earlier.
    public static func < (left: Moment, right: Moment) -> Bool {
        left.sinceStart < right.sinceStart
    }
}
