internal import Glibc

// The sockets that a service manager opens and passes to the process that it starts.
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
        guard inheritedNames().count == 1 else {
            throw SystemCallFailure(call: "listen", number: ENOTCONN)
        }
        return try takeInherited(0)
    }

    /// The names of the sockets that the service manager opened for this process, in their order.
    ///
    /// A service manager that assigns no names calls each socket `unknown`
    /// (`sd_listen_fds_with_names(3)`).
    public static func inheritedNames() -> [String] {
        guard let process = Environment.value("LISTEN_PID"), Int32(process) == getpid(),
            let count = Environment.value("LISTEN_FDS").flatMap({ UInt8($0) }), count > 0
        else { return [] }
        guard let names = Environment.value("LISTEN_FDNAMES") else {
            return [String](repeating: "unknown", count: Int(count))
        }
        let parts = names.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        return parts.count == Int(count) ? parts : []
    }

    /// The listening socket with this name that the service manager opened for this process, like
    /// ``inherited()``; `nil` if there is none.
    ///
    /// Call it once for each name, before any file is opened.
    ///
    /// - Throws: `listen` with `ENOTSOCK` if it is not a Unix socket that listens.
    public static func inherited(named name: String) throws(SystemCallFailure) -> FileDescriptor? {
        guard let index = inheritedNames().firstIndex(of: name) else { return nil }
        return try takeInherited(Int32(index))
    }

    private static func takeInherited(_ index: Int32) throws(SystemCallFailure) -> FileDescriptor {
        let number = firstInherited + index
        guard option(SO_DOMAIN, of: number) == AF_UNIX,
            option(SO_TYPE, of: number) == Int32(SOCK_STREAM.rawValue),
            option(SO_ACCEPTCONN, of: number) == 1
        else { throw SystemCallFailure(call: "listen", number: ENOTSOCK) }
        let file = FileDescriptor(owning: number)
        try call("fcntl") { fcntl(number, F_SETFD, FD_CLOEXEC) }
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
