/// The part of CBOR (RFC 8949) that CTAP 2 uses.
indirect enum CBOR: Equatable {
    case integer(Int)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    case map([Pair])
    case bool(Bool)

    /// A member of a map.
    struct Pair: Equatable {
        let key: CBOR
        let value: CBOR
    }

    /// A map, whose keys need not be sorted.
    static func object(_ pairs: [(CBOR, CBOR)]) -> CBOR {
        .map(pairs.map { Pair(key: $0.0, value: $0.1) })
    }

    /// The canonical encoding of CTAP: the keys of a map are sorted.
    var encoded: [UInt8] {
        switch self {
        case .integer(let value):
            value >= 0 ? CBOR.head(0, value) : CBOR.head(1, -1 - value)
        case .bytes(let bytes): CBOR.head(2, bytes.count) + bytes
        case .text(let text): CBOR.head(3, text.utf8.count) + text.utf8
        case .array(let items): CBOR.head(4, items.count) + items.flatMap(\.encoded)
        case .map(let pairs):
            CBOR.head(5, pairs.count)
                + pairs.map { ($0.key.encoded, $0.value.encoded) }
                .sorted { ($0.0[0] >> 5, $0.0.count, $0.0) < ($1.0[0] >> 5, $1.0.count, $1.0) }
                .flatMap { $0.0 + $0.1 }
        case .bool(let value): [value ? 0xf5 : 0xf4]
        }
    }

    private static func head(_ kind: UInt8, _ value: Int) -> [UInt8] {
        switch value {
        case ..<24: [kind << 5 | UInt8(value)]
        case ..<256: [kind << 5 | 24, UInt8(value)]
        default: [kind << 5 | 25, UInt8(value >> 8), UInt8(value & 255)]
        }
    }

    /// Decodes a value, and removes it from `bytes`; `nil` if the value is malformed.
    init?(decoding bytes: inout ArraySlice<UInt8>) {
        guard let first = bytes.popFirst() else { return nil }
        if first == 0xf4 || first == 0xf5 {
            self = .bool(first == 0xf5)
            return
        }
        var value = Int(first & 31)
        if value >= 24 {
            guard value < 27 else { return nil }
            let count = 1 << (value - 24)
            guard bytes.count >= count else { return nil }
            value = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes.removeFirst(count)
        }
        switch first >> 5 {
        case 0: self = .integer(value)
        case 1: self = .integer(-1 - value)
        case 2, 3:
            guard bytes.count >= value else { return nil }
            let part = Array(bytes.prefix(value))
            bytes.removeFirst(value)
            self = first >> 5 == 2 ? .bytes(part) : .text(String(decoding: part, as: UTF8.self))
        case 4:
            var items: [CBOR] = []
            for _ in 0..<value {
                guard let item = CBOR(decoding: &bytes) else { return nil }
                items.append(item)
            }
            self = .array(items)
        case 5:
            var pairs: [Pair] = []
            for _ in 0..<value {
                guard let key = CBOR(decoding: &bytes), let value = CBOR(decoding: &bytes) else {
                    return nil
                }
                pairs.append(Pair(key: key, value: value))
            }
            self = .map(pairs)
        default: return nil
        }
    }

    subscript(_ key: Int) -> CBOR? { self[.integer(key)] }

    subscript(_ key: String) -> CBOR? { self[.text(key)] }

    private subscript(_ key: CBOR) -> CBOR? {
        guard case .map(let pairs) = self else { return nil }
        return pairs.first { $0.key == key }?.value
    }

    /// The bytes of a byte string; otherwise empty.
    var data: [UInt8] { if case .bytes(let bytes) = self { bytes } else { [] } }

    /// The text of a text string; otherwise empty.
    var string: String { if case .text(let text) = self { text } else { "" } }
}

/// Compares arrays of bytes in lexicographical order.
private func < (left: (UInt8, Int, [UInt8]), right: (UInt8, Int, [UInt8])) -> Bool {
    if left.0 != right.0 { return left.0 < right.0 }
    if left.1 != right.1 { return left.1 < right.1 }
    return left.2.lexicographicallyPrecedes(right.2)
}
