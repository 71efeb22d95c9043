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

    /// Runs `body`, and ends this process (`SIGXCPU`) if that takes more than `seconds` of the
    /// processor time of all threads.
    ///
    /// A confined process can do this only if it runs libraries
    /// (``Confinement/enter(_:runsLibraries:)``).
    public static func limited<Result, Failure: Error>(
        to seconds: Int, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let kind = __rlimit_resource_t(RLIMIT_CPU.rawValue)
        // With valid addresses and a limit that is not above the maximum, these calls cannot fail.
        var usual = rlimit()
        unsafe getrlimit(kind, &usual)
        var lower = usual
        let end = rlim_t((now.used + .seconds(seconds)).components.seconds) + 1
        lower.rlim_cur = min(end, usual.rlim_cur)
        unsafe setrlimit(kind, &lower)
        defer { unsafe setrlimit(kind, &usual) }
        return try body()
    }

    /// Whether `left` is less.
    public static func < (left: ProcessorTime, right: ProcessorTime) -> Bool {
        left.used < right.used
    }
}
