/// An encoder of CBOR that is independent of `Attestation`.
///
/// It writes members in the given order, and duplicates too.
public indirect enum EncodedCBOR: Hashable, Sendable {
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case array([EncodedCBOR])
    case map([Member])
    case boolean(Bool)
    case null
    /// Bytes that are inserted as they are.
    case raw([UInt8])

    /// A key and its value.
    public struct Member: Hashable, Sendable {
        /// The key, which may be of any type.
        public let key: EncodedCBOR
        /// The value that belongs to the key.
        public var value: EncodedCBOR

        /// Combines a key and its value.
        public init(_ key: EncodedCBOR, _ value: EncodedCBOR) {
            self.key = key
            self.value = value
        }
    }

    /// A map with text strings as its keys.
    public static func named(_ members: KeyValuePairs<String, EncodedCBOR>) -> EncodedCBOR {
        .map(members.map { Member(.text($0.key), $0.value) })
    }

    /// A map with numbers as its keys.
    public static func numbered(_ members: KeyValuePairs<Int64, EncodedCBOR>) -> EncodedCBOR {
        .map(members.map { Member(.integer($0.key), $0.value) })
    }

    /// The encoded bytes of the item.
    public var encoded: [UInt8] {
        switch self {
        case .integer(let value):
            value < 0 ? Self.head(1, UInt64(-1 - value)) : Self.head(0, UInt64(value))
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Self.head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let items):
            Self.head(4, UInt64(items.count)) + items.flatMap(\.encoded)
        case .map(let members):
            Self.head(5, UInt64(members.count))
                + members.flatMap { $0.key.encoded + $0.value.encoded }
        case .boolean(let value): [value ? 0xf5 : 0xf4]
        case .null: [0xf6]
        case .raw(let bytes): bytes
        }
    }

    /// The head of an item of this major type, in its shortest form.
    public static func head(_ majorType: UInt8, _ argument: UInt64) -> [UInt8] {
        let width =
            switch argument {
            case ..<24: 0
            case ..<0x100: 1
            case ..<0x1_0000: 2
            case ..<0x1_0000_0000: 4
            default: 8
            }
        return head(majorType, argument, width: width)
    }

    /// The head of an item with an argument of `width` bytes: 0, 1, 2, 4 or 8.
    public static func head(_ majorType: UInt8, _ argument: UInt64, width: Int) -> [UInt8] {
        guard width > 0 else { return [majorType << 5 | UInt8(argument)] }
        let additional: UInt8 = [1: 24, 2: 25, 4: 26][width] ?? 27
        return [majorType << 5 | additional]
            + (0..<width).reversed().map { UInt8(truncatingIfNeeded: argument >> UInt64(8 * $0)) }
    }
}
