internal import Glibc

extension LocalSocket {
    /// The number of the first open file that a service manager passes (`sd_listen_fds(3)`).
    private static let firstInherited: Int32 = 3

    /// The listening socket that the service manager opened for this process; non-blocking, and not
    /// inherited by programs that are started later.
    ///
    /// Call it once, before any file is opened.
    ///
    /// - Throws: `listen` with `ENOTCONN` if no socket or more than one was passed, or if it was
    ///   passed to another process; `ENOTSOCK` if it is not a Unix socket that listens.
    public static func inherited() throws(SystemCallFailure) -> FileDescriptor {
        guard let process = Environment.value("LISTEN_PID"), Int32(process) == getpid(),
            Environment.value("LISTEN_FDS") == "1"
        else { throw SystemCallFailure(call: "listen", number: ENOTCONN) }
        let number = firstInherited
        guard option(SO_DOMAIN, of: number) == AF_UNIX,
            option(SO_TYPE, of: number) == Int32(SOCK_STREAM.rawValue),
            option(SO_ACCEPTCONN, of: number) == 1
        else { throw SystemCallFailure(call: "listen", number: ENOTSOCK) }
        let file = FileDescriptor(owning: number)
        guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
            throw SystemCallFailure(call: "fcntl", number: errno)
        }
        try file.setBlocking(false)
        return file
    }

    private static func option(_ name: Int32, of socket: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 else { return nil }
        return value
    }
}
