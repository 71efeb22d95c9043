import Foundation

/// A TCP socket on this machine, closed with its last owner.
///
/// Ended rather than closed while threads wait in it: its number must not become another's.
final class PlainSocket: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) throws {
        guard descriptor >= 0 else { throw PostgreSQLServerError.failed("socket: \(errno)") }
        self.descriptor = descriptor
    }

    private convenience init() throws {
        try self.init(
            socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
    }

    deinit { close(descriptor) }

    /// Listens at a port of 127.0.0.1 that the kernel chooses.
    static func listening() throws -> (PlainSocket, UInt16) {
        let made = try PlainSocket()
        var address = loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard unsafe apply(bind, made.descriptor, address) == 0,
            listen(made.descriptor, 128) == 0,
            unsafe withUnsafeMutableBytes(
                of: &address,
                { bytes in
                    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
                    return unsafe getsockname(made.descriptor, start, &size)
                }) == 0
        else { throw PostgreSQLServerError.failed("listen: \(errno)") }
        return (made, UInt16(bigEndian: address.sin_port))
    }

    /// Connects to `port` of 127.0.0.1; nothing when nobody is there.
    static func connected(to port: UInt16) throws -> PlainSocket? {
        let made = try PlainSocket()
        let address = loopback(port)
        guard unsafe apply(connect, made.descriptor, address) == 0 else { return nil }
        made.sendAtOnce()
        return made
    }

    /// The next who connects; nothing when it is ended.
    func accepted() -> PlainSocket? {
        while true {
            let taken = accept(descriptor, nil, nil)
            if taken < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard taken >= 0, let made = try? PlainSocket(taken) else { return nil }
            _ = fcntl(taken, F_SETFD, FD_CLOEXEC)
            made.sendAtOnce()
            return made
        }
    }

    /// What comes next; nothing when the other side, or this one, has ended.
    func receive() -> [UInt8]? {
        var room = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe recv(descriptor, &room, room.count, 0)
        return count > 0 ? Array(room.prefix(count)) : nil
    }

    /// Sends every byte; not when the other side is gone.
    @discardableResult
    func send(_ bytes: ArraySlice<UInt8>) -> Bool {
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

    /// Ends it in both directions; what was sent still arrives.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Says that nothing more will be sent.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func sendAtOnce() {
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, size)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        _ = unsafe inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        return address
    }

    private static func apply(
        _ call: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32,
        _ address: sockaddr_in
    ) -> Int32 {
        unsafe withUnsafeBytes(of: address) { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe call(descriptor, start, socklen_t(bytes.count))
        }
    }
}
