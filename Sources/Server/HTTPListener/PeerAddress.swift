internal import CMicroHTTPD
internal import Glibc

/// The remote address of a connection.
struct PeerAddress: Hashable, Sendable {
    /// The numeric address.
    let text: String
    /// Identifies one client: the address, or the first 64 bits of an IPv6 address, because a
    /// client usually controls its whole /64 network.
    let origin: [UInt8]

    /// What a provider assigns to one customer: the address, or the first 48 bits of an IPv6
    /// address.
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
