/// Why a value about passkeys is refused.
///
/// Apart from the settings of a relying party, the error contains no values.
public enum PasskeyError: Error, Hashable, Sendable {
    // A relying party (``RelyingParty``).

    /// The relying party has no ID, no origin or no algorithm.
    case incompleteRelyingParty
    /// This ID is not a host name in lower case.
    case id(String)
    /// This is not an origin as browsers write it.
    case origin(String)
    /// This origin's host is neither an ID nor a subdomain of one.
    case originOutOfScope(String)

    // The object that a browser returned.

    /// The text is not JSON, has duplicate names, or exceeds 64 KiB, 16 levels or 1,024 values.
    case json
    /// This member is missing or malformed; members of inner objects are separated by a dot.
    case member(String)

    // CBOR.

    /// The bytes end before the item does.
    case truncated
    /// The bytes are not CBOR.
    case notWellFormed
    /// A number or length is not encoded in its shortest form.
    case notShortest
    /// A string, an array or a map has no definite length.
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

    /// The kind of limit that the input exceeds.
    public enum Limit: Hashable, Sendable {
        /// The length of the input in bytes.
        case bytes
        /// The nesting of arrays and maps.
        case levels
        /// The number of members of one array or map.
        case members
        /// The number of items, keys included.
        case items
    }
}
