/// A CBOR data item (RFC 8949) of a type that WebAuthn uses.
public indirect enum CBORValue: Hashable, Sendable {
    /// An unsigned integer.
    case unsigned(UInt64)
    /// The negative integer −1 − `argument`.
    case negative(argument: UInt64)
    /// A byte string.
    case bytes([UInt8])
    /// A text string.
    case text(CBORText)
    /// An array.
    case array([CBORValue])
    /// A map.
    case map(CBORMap)
    /// A truth value.
    case boolean(Bool)
    /// Null.
    case null

    /// The integer, if the item is one that fits.
    public var integer: Int64? {
        switch self {
        case .unsigned(let value): Int64(exactly: value)
        case .negative(let argument): Int64(exactly: argument).map { -1 - $0 }
        default: nil
        }
    }

    /// The byte string, if the item is one.
    public var byteString: [UInt8]? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }

    /// The text string, if the item is one.
    public var textString: CBORText? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The items of the array, if the item is one.
    public var items: [CBORValue]? {
        guard case .array(let items) = self else { return nil }
        return items
    }

    /// The map, if the item is one.
    public var members: CBORMap? {
        guard case .map(let map) = self else { return nil }
        return map
    }
}

/// A text string.
///
/// Two text strings are equal if their bytes are. Swift's `String` also treats canonically
/// equivalent values as equal: U+212A (the kelvin sign) equals the letter K.
public struct CBORText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The text in UTF-8.
    public let utf8: [UInt8]

    /// Creates a known text.
    public init(stringLiteral text: StaticString) {
        utf8 = Array(text.description.utf8)
    }

    /// Checks that the bytes are UTF-8.
    init?(_ utf8: [UInt8]) {
        guard String(validating: utf8, as: UTF8.self) != nil else { return nil }
        self.utf8 = utf8
    }

    /// The text as a string.
    public var string: String { String(decoding: utf8, as: UTF8.self) }
}

/// The key of a member of a map.
public enum CBORKey: Hashable, Sendable {
    /// An unsigned integer.
    case unsigned(UInt64)
    /// The negative integer −1 − `argument`.
    case negative(argument: UInt64)
    /// A text string.
    case text(CBORText)

    /// A known number.
    public static func number(_ value: Int64) -> CBORKey {
        value < 0 ? .negative(argument: UInt64(-1 - value)) : .unsigned(UInt64(value))
    }

    /// The item, if it can be a key.
    init?(_ value: CBORValue) {
        switch value {
        case .unsigned(let value): self = .unsigned(value)
        case .negative(let argument): self = .negative(argument: argument)
        case .text(let text): self = .text(text)
        default: return nil
        }
    }
}

/// A map, whose keys are all different.
public struct CBORMap: Hashable, Sendable {
    private let values: [CBORKey: CBORValue]

    init(_ values: [CBORKey: CBORValue]) { self.values = values }

    /// The number of members.
    public var count: Int { values.count }

    /// The keys, in no particular order.
    public var keys: Set<CBORKey> { Set(values.keys) }

    /// The value of the member with this key.
    public subscript(key: CBORKey) -> CBORValue? { values[key] }

    /// The value of the member with this number as its key.
    public subscript(number: Int64) -> CBORValue? { values[.number(number)] }

    /// The value of the member with this text as its key.
    public subscript(text: CBORText) -> CBORValue? { values[.text(text)] }

    /// Whether the members are exactly those with `texts` as their keys.
    public func hasExactly(_ texts: CBORText...) -> Bool {
        keys == Set(texts.map { .text($0) })
    }

    /// Whether the members are exactly those with `numbers` as their keys.
    public func hasExactly(_ numbers: [Int64]) -> Bool {
        keys == Set(numbers.map { .number($0) })
    }
}
