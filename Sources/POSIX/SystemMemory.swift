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
}
