/// Why bytes were refused as CBOR.
///
/// It never contains content.
public enum CBORReadingError: Error, Hashable, Sendable {
    /// The bytes end before the item does.
    case truncated
    /// The bytes are not CBOR.
    case notWellFormed
    /// A number or length is not encoded in its shortest form.
    case notShortest
    /// A string, an array or a map does not state its length.
    case indefiniteLength
    /// An item has a tag.
    case tag
    /// An item is a floating-point number.
    case float
    /// An item is a simple value other than true, false and null.
    case simpleValue
    /// A text string is not valid UTF-8.
    case notUTF8
    /// A key of a map is neither an integer nor a text string.
    case keyType
    /// A map has two members with the same key.
    case duplicateKey
    /// The keys of a map are not in canonical order.
    case keyOrder
    /// More bytes follow the item.
    case bytesLeft
    /// The bytes exceed a limit.
    case overLimit(Limit)

    /// A limit of the input.
    public enum Limit: Hashable, Sendable {
        /// The length in bytes.
        case bytes
        /// The nesting of arrays and maps.
        case levels
        /// The number of members of one array or map.
        case members
        /// The number of items, keys included.
        case items
    }
}

/// Limits for CBOR input.
public struct CBORLimits: Hashable, Sendable {
    /// The maximum length of the input in bytes.
    public let bytes: Int
    /// How deeply arrays and maps may be nested.
    public let levels: Int
    /// The maximum number of members of one array or map.
    public let members: Int
    /// The maximum number of items, keys included.
    public let items: Int

    /// The limits for WebAuthn's objects, the largest known of which is 8.6 kB.
    public static let webAuthn = CBORLimits(bytes: 16 << 10, levels: 4, members: 64, items: 256)
}

/// Whether the order of a map's keys is checked.
public enum CBORKeyOrder: Hashable, Sendable {
    /// Any order is accepted.
    case any
    /// The keys are sorted by their encoding (RFC 8949, section 4.2.1; for the keys that are
    /// accepted here, this is also CTAP2's canonical order).
    case canonical
}
