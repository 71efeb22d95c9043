internal import Foundation

/// One end of a TCP connection on this machine, or what waits for them; closed with its last owner.
final class RoadSocket: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    private static func made() -> Int32 {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        unsafe inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
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

    /// Waits for connections at a port that the kernel chose.
    static func listening() throws -> RoadSocket {
        let made = RoadSocket(made())
        guard unsafe apply(bind, made.descriptor, address(port: 0)) == 0,
            listen(made.descriptor, 64) == 0
        else { throw RawConnection.Failure.notConnected(errno) }
        return made
    }

    static func connected(to port: UInt16) -> RoadSocket? {
        let made = RoadSocket(made())
        return unsafe apply(connect, made.descriptor, address(port: port)) == 0 ? made : nil
    }

    var port: UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            unsafe getsockname(
                descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        return result == 0 ? UInt16(bigEndian: address.sin_port) : 0
    }

    /// The next connection; nothing when there will be none.
    func accept() -> RoadSocket? {
        let accepted = Foundation.accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        // Programs that are started meanwhile must not hold it open.
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return RoadSocket(accepted)
    }

    /// Wakes up who waits for connections.
    func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
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

    /// What comes next, nothing more being empty; `nil` when the connection broke.
    func receive() -> [UInt8]? {
        var room = [UInt8](repeating: 0, count: 1 << 14)
        let count = unsafe recv(descriptor, &room, room.count, 0)
        return count < 0 ? nil : Array(room.prefix(count))
    }

    func isReadable(within milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, milliseconds) > 0
    }

    /// Whichever of the two has something to say first, its end included.
    static func readable(_ one: RoadSocket, _ other: RoadSocket) -> RoadSocket? {
        var waiting = [one, other].map {
            pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
        }
        // Longer than any client or server waits.
        guard unsafe poll(&waiting, 2, 60_000) > 0 else { return nil }
        return waiting[0].revents != 0 ? one : other
    }
}
