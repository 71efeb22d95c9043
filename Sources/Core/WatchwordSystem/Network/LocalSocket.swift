internal import CLinux
internal import Glibc

/// The two ends of a connection between processes of this machine; neither is inherited by programs
/// that are started later.
public struct SocketPair: ~Copyable, Sendable {
    /// One end; blocking.
    public let first: FileDescriptor
    /// The other end; blocking.
    public let second: FileDescriptor

    /// Creates two connected sockets.
    public init() throws(SystemCallFailure) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try call("socketpair") { unsafe socketpair(AF_UNIX, kind, 0, &ends) }
        first = FileDescriptor(owning: ends[0])
        second = FileDescriptor(owning: ends[1])
    }

    /// The first end; the second is closed.
    public consuming func takeFirst() -> FileDescriptor { first }
}

/// Sockets with a path, on which the processes of this machine connect to each other.
public enum LocalSocket {
    /// Creates a socket at `path` and listens on it; non-blocking.
    ///
    /// - Parameters:
    ///   - mode: the permission bits; a user who may write to the socket may connect.
    ///   - backlog: the maximum number of connections that wait to be accepted; the kernel may allow
    ///     fewer.
    /// - Throws: `bind` with `EADDRINUSE` if anything is at the path; `ENAMETOOLONG` for a path
    ///   that does not fit into an address.
    public static func listen(
        at path: String, mode: UInt32 = 0o600, backlog: Int32 = 64
    ) throws(SystemCallFailure) -> FileDescriptor {
        let file = try make()
        let address = try Address(path)
        // The mode of the new file. The umask belongs to the whole process, so the caller must not
        // have other threads that create files.
        let before = umask(~mode & 0o777)
        let bound = unsafe address.withPointer { unsafe bind(file.number, $0, $1) }
        let number = errno
        umask(before)
        guard bound == 0 else { throw SystemCallFailure(call: "bind", number: number) }
        try call("listen") { Glibc.listen(file.number, backlog) }
        return file
    }

    /// Removes the socket at `path` if it belongs to this process's user and no process listens on
    /// it.
    ///
    /// - Returns: whether it was removed.
    public static func removeAbandoned(at path: String) throws(SystemCallFailure) -> Bool {
        var facts = stat()
        try call("lstat") { unsafe lstat(path, &facts) }
        guard facts.st_mode & S_IFMT == S_IFSOCK, facts.st_uid == geteuid() else { return false }
        do { _ = try connect(to: path, timeout: .zero) } catch {
            // Any other failure, such as too many waiting connections, shows that the socket is in
            // use.
            return error.number == ECONNREFUSED && Folder.removeFile(at: path)
        }
        return false
    }

    /// Connects to the socket at `path`; non-blocking from then on.
    ///
    /// - Parameter timeout: how long to wait while too many connections wait to be accepted.
    /// - Throws: `connect` with `ENOENT` or `ECONNREFUSED` if no process listens there.
    public static func connect(
        to path: String, timeout: Duration = .seconds(5)
    ) throws(SystemCallFailure) -> FileDescriptor {
        let file = try make()
        let address = try Address(path)
        let deadline = Moment.now + timeout
        while true {
            let connected = unsafe address.withPointer { address, count in
                retrying { unsafe Glibc.connect(file.number, address, count) }
            }
            if connected == 0 { return file }
            let number = errno
            guard number == EAGAIN, deadline.timeRemaining > .zero else {
                throw SystemCallFailure(call: "connect", number: number)
            }
            // The kernel does not report when there is room.
            _ = try Polling.wait(for: [], timeout: .milliseconds(5))
        }
    }

    /// Accepts a connection, which is non-blocking.
    ///
    /// - Throws: also if no connection is waiting, or if the client has already ended it
    ///   (``SystemCallFailure/isNoConnection``).
    public static func accept(
        from listener: borrowing FileDescriptor
    ) throws(SystemCallFailure) -> FileDescriptor {
        let number = listener.number
        let accepted = try call("accept4", retrying: true) { linux_accept(number) }
        return FileDescriptor(owning: accepted)
    }

    /// The process at the other end of a connection when it connected, as the kernel recorded it.
    public struct Peer: Hashable, Sendable {
        /// The effective user ID.
        public let user: UInt32
        /// The process ID, which the kernel may have reused since.
        public let process: Int32

        /// Combines the two IDs.
        public init(user: UInt32, process: Int32) {
            self.user = user
            self.process = process
        }

        /// Whether the process runs as the same user as this process.
        public var isThisUser: Bool { user == geteuid() }
    }

    /// The process at the other end.
    public static func peer(
        of connection: borrowing FileDescriptor
    ) throws(SystemCallFailure) -> Peer {
        var user: UInt32 = 0
        var process: Int32 = 0
        try call("getsockopt") { unsafe linux_peer(connection.number, &user, &process) }
        return Peer(user: user, process: process)
    }

    private static func make() throws(SystemCallFailure) -> FileDescriptor {
        let kind = Int32(
            SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = try call("socket") { socket(AF_UNIX, kind, 0) }
        return FileDescriptor(owning: number)
    }
}

extension LocalSocket {
    /// Sends one datagram to the socket at `path`, such as a socket of systemd.
    ///
    /// - Parameter path: a path that begins with `@` names a socket that is not in the file system
    ///   (`unix(7)`).
    /// - Throws: `sendto` with `EAGAIN` if the other side has no room for five seconds.
    public static func send(
        _ message: Span<UInt8>, to path: String
    ) throws(SystemCallFailure) {
        let address = try Address(path, acceptingNames: true)
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let file = FileDescriptor(owning: try call("socket") { socket(AF_UNIX, kind, 0) })
        var timeout = timeval(tv_sec: 5, tv_usec: 0)
        try call("setsockopt") {
            unsafe setsockopt(
                file.number, SOL_SOCKET, SO_SNDTIMEO, &timeout,
                socklen_t(MemoryLayout<timeval>.size))
        }
        try call("sendto", retrying: true) {
            unsafe message.withUnsafeBytes { message in
                unsafe address.withPointer { address, count in
                    unsafe sendto(
                        file.number, message.baseAddress, message.count, 0, address, count)
                }
            }
        }
    }
}

extension FileDescriptor {
    /// Ends both directions of a connection, or only the direction from the other side; a thread
    /// that waits for an ended direction, on either side, is woken.
    public func shutDown(onlyReading: Bool = false) {
        // The call fails only if the other end is gone already.
        _ = shutdown(number, Int32(onlyReading ? SHUT_RD : SHUT_RDWR))
    }
}

extension SystemCallFailure {
    /// Whether there was no connection to accept.
    public var isNoConnection: Bool { [EAGAIN, ECONNABORTED].contains(number) }

    /// Whether the path of a new socket is already in use.
    public var isAddressInUse: Bool { number == EADDRINUSE }

    /// Whether no process listens on a socket: the socket does not exist, or the process that made
    /// it has ended.
    public var isNobodyListening: Bool {
        [ENOENT, ENOTDIR, ECONNREFUSED, ENOTSOCK].contains(number)
    }

    /// The other end of a connection is gone, or does not receive what is sent.
    package static let connectionLost = SystemCallFailure(call: "write", number: EPIPE)

    /// Whether the other end of a connection is gone.
    public var isConnectionLost: Bool { [ECONNRESET, EPIPE].contains(number) }
}

/// A path in the kernel's format for addresses.
private struct Address {
    private let address: sockaddr_un
    private let count: socklen_t

    /// - Parameter acceptingNames: whether `@` at the beginning of the path means a name that is not
    ///   in the file system, and so has no permissions.
    init(_ path: String, acceptingNames: Bool = false) throws(SystemCallFailure) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        // One byte is for the final NUL.
        let room = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard bytes.count <= room, !bytes.contains(0) else {
            throw SystemCallFailure(call: "bind", number: ENAMETOOLONG)
        }
        // Such a name begins with NUL, and all bytes up to the end of the address belong to it.
        let isName = acceptingNames && bytes.first == UInt8(ascii: "@")
        if isName { bytes[0] = 0 }
        let size = MemoryLayout<sockaddr_un>.size
        count = socklen_t(isName ? size - 1 - room + bytes.count : size)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        self.address = address
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe body(address, count)
            }
        }
    }
}

/// One byte from another process of this machine, and the open files that came with it.
public struct ReceivedFile: ~Copyable {
    /// The byte, whose meaning the two processes agree on.
    public let byte: UInt8
    private let first: FileDescriptor?
    private let second: FileDescriptor?

    fileprivate init(
        byte: UInt8, first: consuming FileDescriptor?, second: consuming FileDescriptor?
    ) {
        self.byte = byte
        self.first = first
        self.second = second
    }

    /// The open file; `nil` if only a byte was sent.
    public consuming func takeFile() -> FileDescriptor? { first }

    /// The two open files; `nil` if fewer were sent.
    public consuming func takeFiles() -> FilePair? {
        guard let first, let second else { return nil }
        return FilePair(first: first, second: second)
    }
}

/// Two open files that arrived in one message.
public struct FilePair: ~Copyable, Sendable {
    /// The file that was sent first.
    public let first: FileDescriptor
    /// The file that was sent second.
    public let second: FileDescriptor
}

// Sending open files to another process over a local socket (SCM_RIGHTS).
extension FileDescriptor {
    /// Sends one byte without an open file.
    public func send(_ byte: UInt8) throws(SystemCallFailure) {
        try send(byte, with: [])
    }

    /// Sends one byte and an open file, which stays open here.
    public func send(
        _ byte: UInt8, with file: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        try send(byte, with: [file.number])
    }

    /// Sends one byte and two open files, which stay open here, in one message.
    public func send(
        _ byte: UInt8, with first: borrowing FileDescriptor, _ second: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        try send(byte, with: [first.number, second.number])
    }

    private func send(_ byte: UInt8, with files: [Int32]) throws(SystemCallFailure) {
        try call("sendmsg") { unsafe linux_send_files(number, byte, files, Int32(files.count)) }
    }

    /// Receives one byte, and the open files that came with it.
    ///
    /// - Returns: `nil` if the other side closed the connection.
    public func receiveFile() throws(SystemCallFailure) -> ReceivedFile? {
        var byte: UInt8 = 0
        var files = [Int32](repeating: -1, count: Int(LINUX_MOST_FILES))
        let received = unsafe linux_receive_files(number, &byte, &files)
        let number = errno
        func file(_ index: Int) -> FileDescriptor? {
            files[index] < 0 ? nil : FileDescriptor(owning: files[index])
        }
        guard received >= 0 else { throw SystemCallFailure(call: "recvmsg", number: number) }
        guard received > 0 else { return nil }
        return ReceivedFile(byte: byte, first: file(0), second: file(1))
    }
}
