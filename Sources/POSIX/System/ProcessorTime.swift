internal import Glibc

/// An amount of processor time that this process has used, for limits that do not depend on how busy
/// the machine is.
public struct ProcessorTime: Comparable, Sendable {
    /// The time used by all threads since the process started.
    public let used: Duration

    /// The time used so far.
    public static var now: ProcessorTime {
        var now = timespec()
        // CLOCK_PROCESS_CPUTIME_ID has existed since Linux 2.6.12; the call cannot fail with a
        // valid address.
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
        return ProcessorTime(used: .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec))
    }

    /// The moment at which another `time` will have been used.
    public static func + (moment: ProcessorTime, time: Duration) -> ProcessorTime {
        ProcessorTime(used: moment.used + time)
    }

    /// Whether `left` is less.
    public static func < (left: ProcessorTime, right: ProcessorTime) -> Bool {
        left.used < right.used
    }
}
