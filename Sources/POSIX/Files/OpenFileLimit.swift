internal import Glibc

/// The limit on open files of this process (`RLIMIT_NOFILE`); each connection counts as one.
public enum OpenFileLimit {
    /// Raises the limit to `wanted` files, or as far as permitted.
    ///
    /// - Returns: the new limit; more than `wanted` if it was already higher.
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
