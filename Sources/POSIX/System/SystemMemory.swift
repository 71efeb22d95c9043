internal import Glibc

/// The machine's memory.
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
