internal import Glibc

/// Makes TCP connections, for processes that give up the right to connect before they use a
/// connection.
public enum OutgoingConnection {
    /// The result of connecting.
    public enum Outcome: ~Copyable {
        case connected(FileDescriptor)
        /// The host name could not be resolved.
        case unknownHost
        /// The address is not on this machine, although only such an address is allowed.
        case notLoopback
        /// Nothing is listening there, or there is no route.
        case unreachable(SystemCallFailure)
        case timedOut
        /// A system call failed.
        case failed(SystemCallFailure)
    }

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
    ) -> Outcome {
        guard var wanted = SocketAddress.addresses(of: host, port: port) else {
            return .unknownHost
        }
        if loopbackOnly { wanted.removeAll { !$0.isLoopback } }
        guard !wanted.isEmpty else { return .notLoopback }
        var left = timeout
        var last = Outcome.timedOut
        for (index, address) in wanted.enumerated() {
            do throws(SystemCallFailure) {
                switch try connect(
                    to: address, timeout: left / (wanted.count - index), &left)
                {
                case .connected(let connection): return .connected(connection)
                case let other: last = other
                }
            } catch {
                last = .failed(error)
            }
        }
        return last
    }

    /// Sends a short request over a connection that was opened here, and receives until the other
    /// side closes it.
    ///
    /// - Throws: `recv` with `ETIMEDOUT` if that takes longer than `timeout`, or with `EMSGSIZE` if
    ///   more than `limit` bytes arrive.
    public static func exchange(
        _ request: Span<UInt8>, over connection: borrowing FileDescriptor, limit: Int,
        timeout: Duration
    ) throws(SystemCallFailure) -> [UInt8] {
        let number = connection.number
        let deadline = Moment.now + timeout
        try connection.writeAll(request)
        var response: [UInt8] = []
        var part = [UInt8](repeating: 0, count: limit + 1)
        while response.count <= limit {
            let isReady = try Polling.ready(
                of: [.reading(connection)], timeout: deadline.timeRemaining)
            guard isReady[0] else {
                guard deadline.timeRemaining > .zero else {
                    throw SystemCallFailure(call: "recv", number: ETIMEDOUT)
                }
                continue
            }
            let count = try call("recv", retrying: true) {
                unsafe recv(number, &part, part.count, 0)
            }
            guard count > 0 else { return response }
            response += part.prefix(count)
        }
        throw SystemCallFailure(call: "recv", number: EMSGSIZE)
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
    ) throws(SystemCallFailure) -> Outcome {
        let kind = Int32(
            SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = try call("socket") { socket(address.family, kind, 0) }
        let file = FileDescriptor(owning: number)
        let begun = retrying {
            unsafe address.withPointer { unsafe Glibc.connect(number, $0, $1) }
        }
        guard begun == 0 || errno == EINPROGRESS else {
            return .unreachable(SystemCallFailure(call: "connect", number: errno))
        }
        var timeout = timeout
        while !hasPeer(number) {
            if let failure = try failure(of: number) { return .unreachable(failure) }
            guard timeout > .zero else { return .timedOut }
            let waited = try Polling.wait(for: [.writing(file)], timeout: timeout)
            timeout -= waited
            left -= waited
        }
        return .connected(file)
    }

    /// The error of a non-blocking connection attempt; `nil` if it has not failed.
    private static func failure(of number: Int32) throws(SystemCallFailure) -> SystemCallFailure? {
        var failure: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        try call("getsockopt") {
            unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &failure, &size)
        }
        return failure == 0 ? nil : SystemCallFailure(call: "connect", number: failure)
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

/// An IPv4 or IPv6 address and a port, in the kernel's format.
private struct SocketAddress {
    private let storage: sockaddr_storage
    private let count: socklen_t

    var family: Int32 { Int32(storage.ss_family) }

    /// More addresses than any legitimate host has.
    private static let limit = 16

    /// The addresses of a host; `nil` if its name cannot be resolved.
    static func addresses(of host: String, port: UInt16) -> [SocketAddress]? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0 else { return nil }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next?.pointee, addresses.count < limit {
            if let address = unsafe SocketAddress(copying: entry.ai_addr, count: entry.ai_addrlen) {
                addresses.append(address)
            }
            unsafe next = entry.ai_next
        }
        return addresses
    }

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

    /// Whether the address is in 127.0.0.0/8 or is ::1.
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
