internal import Foundation

/// A socket that receives datagrams from this machine, as services of systemd do.
public final class DatagramSocket: Sendable {
    private let descriptor: Int32

    /// Creates the socket at `path`.
    ///
    /// - Parameter isAbstract: whether `path` is a name that is not in the file system.
    public init(at path: String, isAbstract: Bool = false) throws {
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = (isAbstract ? [0] : []) + Array(path.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let size = isAbstract ? offset + name.count : MemoryLayout<sockaddr_un>.size
        let result = unsafe withUnsafeBytes(of: address) { bytes in
            unsafe bind(
                descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t(size))
        }
        guard descriptor >= 0, result == 0 else { throw RawConnection.Failure.notConnected(errno) }
    }

    deinit { close(descriptor) }

    /// The next datagram; `nil` if none arrives in time.
    public func receive(within milliseconds: Int32 = 10_000) -> [UInt8]? {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waiting, 1, milliseconds) > 0 else { return nil }
        var room = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe recv(descriptor, &room, room.count, 0)
        return count >= 0 ? Array(room.prefix(count)) : nil
    }
}
