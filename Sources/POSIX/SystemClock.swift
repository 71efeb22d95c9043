internal import CLinux
internal import Glibc

/// The system's clock, read at the top of a program and nowhere below.
public enum SystemClock {
    /// Seconds since 1970-01-01 00:00 UTC, leap seconds not counted.
    public static func unixTime() -> Int64 {
        var now = timespec()
        // CLOCK_REALTIME is there on every Linux; the call can't fail with a valid address.
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec)
    }

    /// Milliseconds within the current second, 0 to 999: a countdown wakes up on the second.
    public static func milliseconds() -> Int {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return now.tv_nsec / 1_000_000
    }

    /// Whether the kernel says that something keeps the clock right; `nil` when it does not say.
    public static func isSynchronized() -> Bool? {
        switch linux_clock_is_synchronized() {
        case 1: true
        case 0: false
        default: nil
        }
    }
}
