internal import Glibc

extension FileDescriptor {
    /// Reads `count` bytes from a descriptor that somebody else owns and appends them to `bytes`.
    ///
    /// - Returns: whether they all came; when not, the other side ended early, or before the first.
    public static func read(
        exactly count: Int, from number: Int32, appendingTo bytes: inout [UInt8]
    ) throws(SystemCallFailure) -> Bool {
        var part = [UInt8](repeating: 0, count: min(count, 1 << 16))
        var missing = count
        while missing > 0 {
            let result = retrying { unsafe Glibc.read(number, &part, min(missing, part.count)) }
            guard result >= 0 else { throw SystemCallFailure(call: "read", number: errno) }
            guard result > 0 else { return false }
            bytes.append(contentsOf: part.prefix(result))
            missing -= result
        }
        return true
    }
}

extension ProcessEnd {
    /// Ends with `status` and nothing else: what a confined process may no longer do on its way out.
    public static func atOnce(with status: Int32) -> Never { _exit(status) }
}
