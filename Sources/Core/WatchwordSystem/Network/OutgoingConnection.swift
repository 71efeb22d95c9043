internal import Glibc

/// Why a connection could not be made.
public enum ConnectionFailure: Error, Hashable, Sendable {
    /// The host name could not be resolved; `code` is from `getaddrinfo`.
    case unknownHost(code: Int32)
    /// The address is not on this machine, although only such an address is allowed.
    case notLoopback
    /// Nothing is listening there, or there is no route.
    case unreachable(SystemCallFailure)
    /// The timeout expired.
    case timedOut
    /// A system call failed.
    case system(SystemCallFailure)
}

/// Makes TCP connections, for processes that give up the right to connect before they use a
/// connection.
public enum OutgoingConnection {
    /// Looks up the host and connects to the first of its addresses that answers.
    ///
    /// The descriptor is non-blocking.
    ///
    /// - Parameters:
    ///   - host: a name, or an address without brackets.
    ///   - loopbackOnly: whether to skip addresses outside this machine.
    ///   - timeout: for all addresses together. It does not cover the name lookup, for which the C
    ///     library has its own timeouts.
    public static func open(
        host: String, port: UInt16, loopbackOnly: Bool, timeout: Duration
    ) throws(ConnectionFailure) -> FileDescriptor {
        let found = try AddressList(host: host, port: port)
        var wanted = found.addresses
        if loopbackOnly { wanted.removeAll { !$0.isLoopback } }
        guard !wanted.isEmpty else { throw .notLoopback }
        var left = timeout
        var last = ConnectionFailure.timedOut
        for (index, address) in wanted.enumerated() {
            do throws(ConnectionFailure) {
                return try connect(
                    to: address, timeout: left / (wanted.count - index), &left)
            } catch {
                last = error
            }
        }
        throw last
    }

    /// Whether a connection leads to a process of this machine.
    public static func isLocal(_ connection: borrowing FileDescriptor) -> Bool {
        let number = connection.number
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe getpeername(number, address, &size) == 0 else { return false }
                return unsafe SocketAddress(copying: address, count: size)?.isLoopback ?? false
            }
        }
    }

    private static func connect(
        to address: SocketAddress, timeout: Duration, _ left: inout Duration
    ) throws(ConnectionFailure) -> FileDescriptor {
        let kind = Int32(
            SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(address.family, kind, 0)
        guard number >= 0 else {
            throw .system(SystemCallFailure(call: "socket", number: errno))
        }
        let file = FileDescriptor(owning: number)
        let begun = retrying {
            unsafe address.withPointer { unsafe Glibc.connect(number, $0, $1) }
        }
        guard begun == 0 || errno == EINPROGRESS else {
            throw .unreachable(SystemCallFailure(call: "connect", number: errno))
        }
        var timeout = timeout
        while !hasPeer(number) {
            try check(number)
            guard timeout > .zero else { throw .timedOut }
            do throws(SystemCallFailure) {
                let waited = try Polling.wait(for: [.writing(file)], timeout: timeout)
                timeout -= waited
                left -= waited
            } catch {
                throw .system(error)
            }
        }
        return file
    }

    /// Throws the error of a non-blocking connection attempt, if it failed.
    private static func check(_ number: Int32) throws(ConnectionFailure) {
        var failure: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 else {
            throw .system(SystemCallFailure(call: "getsockopt", number: errno))
        }
        guard failure == 0 else {
            throw .unreachable(SystemCallFailure(call: "connect", number: failure))
        }
    }

    private static func hasPeer(_ number: Int32) -> Bool {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe getpeername(number, address, &size) == 0
            }
        }
    }
}

/// The addresses of a host name.
private struct AddressList {
    let addresses: [SocketAddress]

    /// More addresses than any legitimate host has.
    private static let limit = 16

    init(host: String, port: UInt16) throws(ConnectionFailure) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else { throw .unknownHost(code: code) }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next?.pointee, addresses.count < AddressList.limit {
            if let address = unsafe SocketAddress(copying: entry.ai_addr, count: entry.ai_addrlen) {
                addresses.append(address)
            }
            unsafe next = entry.ai_next
        }
        self.addresses = addresses
    }
}

/// An IPv4 or IPv6 address and a port, in the kernel's format.
private struct SocketAddress {
    private let storage: sockaddr_storage
    private let count: socklen_t

    var family: Int32 { Int32(storage.ss_family) }

    /// Copies one of `getaddrinfo`'s results; `nil` for other address families.
    init?(copying address: UnsafeMutablePointer<sockaddr>?, count: socklen_t) {
        guard let address = unsafe address, Int(count) <= MemoryLayout<sockaddr_storage>.size else {
            return nil
        }
        var storage = sockaddr_storage()
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe bytes.copyMemory(
                from: UnsafeRawBufferPointer(start: address, count: Int(count)))
        }
        guard [AF_INET, AF_INET6].contains(Int32(storage.ss_family)) else { return nil }
        self.storage = storage
        self.count = count
    }

    /// Whether it is in 127.0.0.0/8 or is ::1.
    var isLoopback: Bool {
        unsafe withUnsafeBytes(of: storage) { bytes in
            if family == AF_INET {
                // The address follows the family and the port (2 bytes each).
                return unsafe bytes[4] == 127
            }
            // The address follows the family, the port and the flow label (4 bytes).
            return unsafe bytes[8..<23].allSatisfy { $0 == 0 } && bytes[23] == 1
        }
    }

    func withPointer(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe body(address, count)
            }
        }
    }
}
