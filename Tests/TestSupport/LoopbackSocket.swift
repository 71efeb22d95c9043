internal import Foundation

/// A TCP socket on this machine, connected or listening.
///
/// It is closed with its last owner.
///
/// While threads wait on it, shut it down rather than close it: a closed descriptor's number could
/// be reused.
public final class LoopbackSocket: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    private convenience init() throws {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard made >= 0 else { throw RawConnection.Failure.notConnected(errno) }
        self.init(made)
    }

    deinit { close(descriptor) }

    /// Whether this machine has ::1.
    public static let hasVersion6: Bool = {
        let made = socket(AF_INET6, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard made >= 0 else { return false }
        defer { close(made) }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        return unsafe apply(bind, made, address) == 0
    }()

    /// Listens on a port of 127.0.0.1, by default one that the kernel chooses.
    public static func listening(on port: UInt16 = 0) throws -> LoopbackSocket {
        let made = try LoopbackSocket()
        guard unsafe apply(bind, made.descriptor, address(port: port)) == 0,
            listen(made.descriptor, 128) == 0
        else { throw RawConnection.Failure.notConnected(errno) }
        return made
    }

    /// Takes a port of 127.0.0.1 on which no socket listens.
    public static func silent() throws -> LoopbackSocket {
        let made = try LoopbackSocket()
        guard unsafe apply(bind, made.descriptor, address(port: 0)) == 0 else {
            throw RawConnection.Failure.notConnected(errno)
        }
        return made
    }

    /// Connects to `port` on 127.0.0.1; returns `nil` if nothing is listening there.
    public static func connected(to port: UInt16) throws -> LoopbackSocket? {
        let made = try LoopbackSocket()
        guard unsafe apply(connect, made.descriptor, address(port: port)) == 0 else { return nil }
        made.sendAtOnce()
        return made
    }

    /// The port to which the socket is bound.
    public var port: UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            unsafe getsockname(
                descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        return result == 0 ? UInt16(bigEndian: address.sin_port) : 0
    }

    /// Accepts the next connection; returns `nil` once the socket is shut down.
    public func accepted() -> LoopbackSocket? {
        while true {
            let taken = accept(descriptor, nil, nil)
            if taken < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard taken >= 0 else { return nil }
            // Programs started in the meantime must not inherit it.
            _ = fcntl(taken, F_SETFD, FD_CLOEXEC)
            let made = LoopbackSocket(taken)
            made.sendAtOnce()
            return made
        }
    }

    /// Returns the next bytes, or `nil` if either side has shut the connection down.
    public func receive() -> [UInt8]? {
        var room = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe recv(descriptor, &room, room.count, 0)
        return count > 0 ? Array(room.prefix(count)) : nil
    }

    /// Sends every byte.
    ///
    /// Returns `false` if the other side has closed the connection.
    @discardableResult
    public func send(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { rest in
                unsafe Foundation.send(
                    descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Shuts down both directions and wakes any thread that waits on the socket.
    ///
    /// Bytes already sent still arrive.
    public func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Shuts down the sending direction.
    public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Whether bytes, a client or the end of the connection arrive in time.
    public func isReadable(within milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, milliseconds) > 0
    }

    /// Returns the first of the two sockets that has bytes to read or has ended.
    static func readable(_ one: LoopbackSocket, _ other: LoopbackSocket) -> LoopbackSocket? {
        var waiting = [one, other].map {
            pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
        }
        // Longer than any timeout of a client or server.
        guard unsafe poll(&waiting, 2, 60_000) > 0 else { return nil }
        return waiting[0].revents != 0 ? one : other
    }

    private func sendAtOnce() {
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, size)
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        _ = unsafe inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        return address
    }

    /// Calls `bind` or `connect` with this address.
    static func apply<Address>(
        _ call: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32,
        _ address: Address
    ) -> Int32 {
        unsafe withUnsafeBytes(of: address) { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe call(descriptor, start, socklen_t(bytes.count))
        }
    }
}
