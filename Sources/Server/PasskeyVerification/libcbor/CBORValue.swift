/// A CBOR data item (RFC 8949) of a type that WebAuthn uses.
public indirect enum CBORValue: Hashable, Sendable {
    /// An unsigned integer (major type 0).
    case unsigned(UInt64)
    /// The negative integer −1 − `argument`.
    case negative(argument: UInt64)
    /// A byte string (major type 2).
    case bytes([UInt8])
    /// A text string (major type 3).
    case text(CBORText)
    /// An array (major type 4).
    case array([CBORValue])
    /// A map (major type 5).
    case map(CBORMap)
    /// The simple value true or false.
    case boolean(Bool)
    /// The simple value null.
    case null

    /// The integer, if the item is an integer in the range of the type.
    public var integer: Int64? {
        switch self {
        case .unsigned(let value): Int64(exactly: value)
        case .negative(let argument): Int64(exactly: argument).map { -1 - $0 }
        default: nil
        }
    }

    /// The bytes, if the item is a byte string.
    public var byteString: [UInt8]? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }

    /// The text, if the item is a text string.
    public var textString: CBORText? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The items, if the item is an array.
    public var items: [CBORValue]? {
        guard case .array(let items) = self else { return nil }
        return items
    }

    /// The map, if the item is a map.
    public var members: CBORMap? {
        guard case .map(let map) = self else { return nil }
        return map
    }
}

/// A text string.
///
/// Two text strings are equal if their bytes are equal. Swift's `String` also treats canonically
/// equivalent values as equal: U+212A (the kelvin sign) equals the letter K.
public struct CBORText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The content in UTF-8, which is not normalised.
    public let utf8: [UInt8]

    /// Takes the bytes of a literal, which are UTF-8.
    public init(stringLiteral text: StaticString) {
        utf8 = Array(text.description.utf8)
    }

    /// Returns `nil` if the bytes are not UTF-8.
    init?(_ utf8: [UInt8]) {
        guard String(validating: utf8, as: UTF8.self) != nil else { return nil }
        self.utf8 = utf8
    }

    /// The text as a string.
    public var string: String { String(decoding: utf8, as: UTF8.self) }
}

/// The key of a map's member.
public enum CBORKey: Hashable, Sendable {
    /// An unsigned integer.
    case unsigned(UInt64)
    /// The negative integer −1 − `argument`.
    case negative(argument: UInt64)
    /// A text string.
    case text(CBORText)

    /// The key for an integer of either sign.
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

/// A map whose keys are all different.
public struct CBORMap: Hashable, Sendable {
    private let values: [CBORKey: CBORValue]

    init(_ values: [CBORKey: CBORValue]) { self.values = values }

    /// The number of members, at most the reader's limit.
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
