internal import CMicroHTTPD
internal import Glibc

/// A numeric address and a port to listen on.
public struct ListenAddress: Hashable, Sendable {
    enum Family: Hashable, Sendable {
        case version4
        case version6
    }

    /// The address, without brackets.
    public let host: String
    /// The port; 0 lets the kernel choose one.
    public let port: UInt16
    let family: Family
    let bytes: [UInt8]

    /// Parses `127.0.0.1:8420`, `[::1]:8420` or `localhost:8420`; other names are not looked up.
    public init?(parsing text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits)
        else { return nil }
        var host = String(text[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        let family: Family = isBracketed ? .version6 : .version4
        guard let bytes = ListenAddress.bytes(of: host, family) else { return nil }
        self.init(host: host, port: port, family: family, bytes: bytes)
    }

    /// The address 127.0.0.1 with a port.
    public init(loopbackPort port: UInt16) {
        self.init(host: "127.0.0.1", port: port, family: .version4, bytes: [127, 0, 0, 1])
    }

    private init(host: String, port: UInt16, family: Family, bytes: [UInt8]) {
        self.host = host
        self.port = port
        self.family = family
        self.bytes = bytes
    }

    /// The same address with a different port.
    func with(port: UInt16) -> ListenAddress {
        ListenAddress(host: host, port: port, family: family, bytes: bytes)
    }

    /// The address as in a URL: IPv6 in brackets.
    public var text: String {
        family == .version6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Whether only this machine can reach it.
    public var isLoopback: Bool {
        switch family {
        case .version4: bytes[0] == 127
        case .version6:
            bytes == [UInt8](repeating: 0, count: 15) + [1]
                || bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 127])
        }
    }

    private static func bytes(of host: String, _ family: Family) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: family == .version4 ? 4 : 16)
        let number = family == .version4 ? AF_INET : AF_INET6
        return unsafe inet_pton(number, host, &bytes) == 1 ? bytes : nil
    }
}

/// The remote address of a connection.
struct PeerAddress: Hashable, Sendable {
    /// The numeric address.
    let text: String
    /// Identifies one client: the address, or the first 64 bits of an IPv6 address, because a
    /// client usually controls its whole /64 network.
    let origin: [UInt8]

    /// The network that a provider assigns to one customer: the address, or the first 48 bits of an
    /// IPv6 address.
    let site: [UInt8]

    /// An unknown address; all unknown addresses count as one.
    static let unknown = PeerAddress(text: "unknown", origin: [], site: [])

    init(text: String, origin: [UInt8], site: [UInt8]) {
        self.text = text
        self.origin = origin
        self.site = site
    }

    /// Reads the kernel's address; unsupported families are ``unknown``.
    init(_ address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else {
            self = .unknown
            return
        }
        let raw = unsafe UnsafeRawPointer(address)
        let family = unsafe Int32(address.pointee.sa_family)
        let bytes: [UInt8]
        switch family {
        case AF_INET:
            let found = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            bytes = unsafe withUnsafeBytes(of: found.sin_addr) { unsafe Array($0) }
        case AF_INET6:
            let found = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
            bytes = unsafe withUnsafeBytes(of: found.sin6_addr) { unsafe Array($0) }
        default:
            self = .unknown
            return
        }
        var room = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_ntop(family, bytes, &room, socklen_t(room.count)) != nil else {
            self = .unknown
            return
        }
        let text = String(
            decoding: room.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let isVersion6 = family == AF_INET6
        self.init(
            text: text, origin: isVersion6 ? Array(bytes.prefix(8)) : bytes,
            site: isVersion6 ? Array(bytes.prefix(6)) : bytes)
    }
}
