internal import CLinux
internal import Glibc

/// The memory that this process has freed.
public enum FreedMemory {
    /// Keeps it for later allocations from now on.
    ///
    /// Otherwise each large block is new memory from the kernel, which clears every page when it is
    /// first used.
    public static func keep() { linux_keep_freed_memory() }
}

/// The physical memory of this machine.
public enum SystemMemory {
    /// The size of the machine's memory in bytes.
    public static func size() -> Int {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        let pageSize = sysconf(Int32(_SC_PAGESIZE))
        guard pages > 0, pageSize > 0 else { return Int.max }  // Unknown: the allocation decides.
        return pages.multipliedReportingOverflow(by: pageSize).partialValue
    }

    /// The memory in bytes that this process can allocate: the machine's memory, or less if
    /// `RLIMIT_AS` or `RLIMIT_DATA` is lower.
    public static func limit() -> Int {
        [RLIMIT_AS, RLIMIT_DATA].reduce(size()) { least, resource in
            var limit = rlimit()
            let kind = __rlimit_resource_t(resource.rawValue)
            guard unsafe getrlimit(kind, &limit) == 0 else { return least }
            return min(least, Int(clamping: limit.rlim_cur))
        }
    }
}

/// The limit on open files of this process (`RLIMIT_NOFILE`); each connection counts as one.
public enum OpenFileLimit {
    /// Raises the limit to `wanted` files, or to the highest permitted value.
    ///
    /// - Returns: the new limit; more than `wanted` if it was already higher.
    public static func raise(to wanted: Int) throws(SystemCallFailure) -> Int {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        try call("getrlimit") { unsafe getrlimit(files, &limit) }
        let most = min(rlim_t(max(wanted, 0)), limit.rlim_max)
        if limit.rlim_cur < most {
            limit.rlim_cur = most
            try call("setrlimit") { unsafe setrlimit(files, &limit) }
        }
        return Int(clamping: limit.rlim_cur)
    }
}

/// An amount of processor time that this process has used, for limits that do not depend on how
/// busy the machine is.
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
