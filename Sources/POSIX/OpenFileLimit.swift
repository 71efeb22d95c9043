internal import Glibc

/// How many files this process may have open at once; each connection is one (`RLIMIT_NOFILE`).
public enum OpenFileLimit {
    /// Asks for `wanted` files, or as many as there may be.
    ///
    /// - Returns: how many there may be from now on; more than `wanted` when they were allowed already.
    public static func raise(to wanted: Int) throws(SystemCallFailure) -> Int {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(files, &limit) == 0 else {
            throw SystemCallFailure(call: "getrlimit", number: errno)
        }
        let most = min(rlim_t(max(wanted, 0)), limit.rlim_max)
        if limit.rlim_cur < most {
            limit.rlim_cur = most
            guard unsafe setrlimit(files, &limit) == 0 else {
                throw SystemCallFailure(call: "setrlimit", number: errno)
            }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
