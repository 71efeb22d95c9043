internal import Glibc

/// A numeric IP address; an IPv4 address is stored as an IPv4-mapped IPv6 address.
@safe public struct NetworkAddress: Hashable, Sendable {
    /// The address, always 16 bytes.
    public let bytes: [UInt8]

    private static let mapping: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// Parses a numeric address without port, brackets or zone; `nil` for anything else.
    public init?(_ text: String) {
        var four = [UInt8](repeating: 0, count: 4)
        var six = [UInt8](repeating: 0, count: 16)
        // The call would ignore everything after a NUL.
        guard !text.utf8.contains(0) else { return nil }
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            bytes = Self.mapping + four
        } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
            bytes = six
        } else {
            return nil
        }
    }

    /// Uses exactly 16 bytes; `nil` for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Whether the address is an IPv4 address.
    public var isVersion4: Bool { bytes.starts(with: Self.mapping) }

    /// Identifies the sender: the address or, for IPv6, its first 64 bits, because a sender usually
    /// controls its whole /64 network.
    public var sender: NetworkAddress { isVersion4 ? self : prefix(bits: 64) }

    /// The network that a provider assigns to one customer: the address or, for IPv6, its first 48
    /// bits.
    public var site: NetworkAddress { isVersion4 ? self : prefix(bits: 48) }

    /// The address with all bits after the first `count` of 128 set to zero.
    public func prefix(bits count: Int) -> NetworkAddress {
        precondition((0...128).contains(count), "a prefix has 0 to 128 bits")
        var kept = bytes
        for index in kept.indices {
            let bits = min(max(count - index * 8, 0), 8)
            kept[index] &= bits == 0 ? 0 : UInt8.max << UInt8(8 - bits)
        }
        return NetworkAddress(unchecked: kept)
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}

/// A block of addresses, such as `10.0.0.0/8`, or a single address.
public struct NetworkBlock: Hashable, Sendable {
    private let first: NetworkAddress
    private let bits: Int

    /// Parses an address, or an address with a prefix length; the bits after the prefix must be
    /// zero.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let address = NetworkAddress(String(parts[0])) else {
            return nil
        }
        var bits = 128
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let given = Int(parts[1]), given <= (address.isVersion4 ? 32 : 128)
            else { return nil }
            bits = address.isVersion4 ? given + 96 : given
        }
        guard address.prefix(bits: bits) == address else { return nil }
        first = address
        self.bits = bits
    }

    /// Whether the address is in the block.
    public func contains(_ address: NetworkAddress) -> Bool {
        address.prefix(bits: bits) == first
    }
}
