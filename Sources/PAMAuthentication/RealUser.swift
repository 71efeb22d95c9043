internal import Glibc

/// The user who started this process.
enum RealUser {
    /// The name in the system's user database; `nil` if there is none.
    static func name() -> String? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        let result = unsafe getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found)
        guard result == 0, unsafe found != nil, let name = unsafe entry.pw_name else { return nil }
        return unsafe String(validatingCString: name)
    }
}
