internal import Glibc

/// A listening socket, created before libmicrohttpd gets it, so that errors include the kernel's
/// reason.
struct ListeningSocket: ~Copyable {
    let number: Int32
    let port: UInt16

    init(_ address: ListenAddress) throws(ListenerFailure) {
        let family = address.family == .version4 ? AF_INET : AF_INET6
        let type =
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            | Int32(SOCK_NONBLOCK.rawValue)
        let opened = socket(family, type, 0)
        guard opened >= 0 else { throw .system(call: "socket", number: errno) }
        do throws(ListenerFailure) {
            // Allow a port to be reused immediately.
            try ListeningSocket.set(SOL_SOCKET, SO_REUSEADDR, of: opened)
            if address.family == .version6 {
                // [::] means IPv6 only; to listen on IPv4 as well, specify both addresses.
                try ListeningSocket.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, of: opened)
            }
            try ListeningSocket.bind(opened, to: address)
            guard listen(opened, SOMAXCONN) == 0 else {
                throw .system(call: "listen", number: errno)
            }
            port = try ListeningSocket.port(of: opened)
        } catch {
            Glibc.close(opened)
            throw error
        }
        number = opened
    }

    /// Duplicates an existing listening socket.
    init(duplicating other: Int32) throws(ListenerFailure) {
        let copy = fcntl(other, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system(call: "fcntl", number: errno) }
        do throws(ListenerFailure) { port = try ListeningSocket.port(of: copy) } catch {
            Glibc.close(copy)
            throw error
        }
        number = copy
    }

    deinit { Glibc.close(number) }

    /// Transfers ownership of the socket to the caller, who must close it.
    consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    /// Closes `number` if it is still the socket that `identity` was taken from.
    ///
    /// If libmicrohttpd (0.9.75) fails to start, it closes its socket after some errors (a bad
    /// certificate, a thread that could not be started) but not after others. In the meantime, the
    /// number may have been given to a different file.
    static func close(_ number: Int32, ifStill identity: Identity?) {
        guard let identity, Identity(of: number) == identity else { return }
        Glibc.close(number)
    }

    /// Distinguishes an open socket from a later file with the same number.
    struct Identity: Equatable {
        private let device: dev_t
        private let inode: ino_t

        /// Returns `nil` if `number` is not open.
        init?(of number: Int32) {
            var status = stat()
            guard unsafe fstat(number, &status) == 0 else { return nil }
            device = status.st_dev
            inode = status.st_ino
        }
    }

    private static func set(_ level: Int32, _ option: Int32, of number: Int32)
        throws(ListenerFailure)
    {
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(number, level, option, &yes, size) == 0 else {
            throw .system(call: "setsockopt", number: errno)
        }
    }

    private static func bind(_ number: Int32, to address: ListenAddress) throws(ListenerFailure) {
        var storage = sockaddr_storage()
        let size: Int
        switch address.family {
        case .version4:
            var wanted = sockaddr_in()
            wanted.sin_family = sa_family_t(AF_INET)
            wanted.sin_port = address.port.bigEndian
            unsafe withUnsafeMutableBytes(of: &wanted.sin_addr) {
                unsafe $0.copyBytes(from: address.bytes)
            }
            size = MemoryLayout<sockaddr_in>.size
            unsafe withUnsafeMutableBytes(of: &storage) {
                unsafe $0.storeBytes(of: wanted, as: sockaddr_in.self)
            }
        case .version6:
            var wanted = sockaddr_in6()
            wanted.sin6_family = sa_family_t(AF_INET6)
            wanted.sin6_port = address.port.bigEndian
            unsafe withUnsafeMutableBytes(of: &wanted.sin6_addr) {
                unsafe $0.copyBytes(from: address.bytes)
            }
            size = MemoryLayout<sockaddr_in6>.size
            unsafe withUnsafeMutableBytes(of: &storage) {
                unsafe $0.storeBytes(of: wanted, as: sockaddr_in6.self)
            }
        }
        let result = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe Glibc.bind(
                number, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t(size))
        }
        guard result == 0 else { throw .system(call: "bind", number: errno) }
    }

    private static func port(of number: Int32) throws(ListenerFailure) -> UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe getsockname(
                number, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        guard result == 0 else { throw .system(call: "getsockname", number: errno) }
        // The port is at the same offset in both families' addresses.
        return unsafe withUnsafeBytes(of: &storage) { bytes in
            UInt16(bigEndian: unsafe bytes.load(fromByteOffset: 2, as: UInt16.self))
        }
    }
}
