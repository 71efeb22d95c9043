internal import Glibc

/// The machine's memory.
public enum SystemMemory {
    /// Bytes of memory that the machine has, used or not.
    public static func size() -> Int {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        let pageSize = sysconf(Int32(_SC_PAGESIZE))
        guard pages > 0, pageSize > 0 else { return Int.max }  // Unknown: the allocation decides.
        return pages.multipliedReportingOverflow(by: pageSize).partialValue
    }

    /// The most bytes that this process may ask for: the machine's memory, or less where `RLIMIT_AS` or
    /// `RLIMIT_DATA` says so.
    public static func limit() -> Int {
        [RLIMIT_AS, RLIMIT_DATA].reduce(size()) { least, resource in
            var limit = rlimit()
            let kind = __rlimit_resource_t(resource.rawValue)
            guard unsafe getrlimit(kind, &limit) == 0 else { return least }
            return min(least, Int(clamping: limit.rlim_cur))
        }
    }
}
