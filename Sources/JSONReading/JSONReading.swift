internal import CJansson
public import Cryptography
public import JSONText

/// How much JSON is read before it is refused.
public struct JSONLimits: Hashable, Sendable {
    /// Bytes of the whole text.
    public let bytes: Int
    /// Lists and objects inside each other.
    public let depth: Int

    /// What a request or an answer needs: 64 KiB, eight levels.
    public static let message = JSONLimits(bytes: 64 << 10, depth: 8)

    /// Takes limits of one's own; no more than 2,000 levels, for the library's own limit is 2,048.
    public init(bytes: Int, depth: Int) {
        precondition((0...2_000).contains(depth), "a depth is 0 to 2,000")
        self.bytes = bytes
        self.depth = depth
    }
}

/// Reads an object or a list (RFC 8259), strictly.
///
/// Refused are: what is no UTF-8, a name that comes twice in one object, numbers that are not whole
/// (`6.0` and `6e0` are, as JSON Schema has it) or beyond `Int64`, NUL in texts and names, anything before or behind the value but white space, and what
/// the limits forbid. Members keep their order. Every text comes as ``JSONValue/secret(_:)``, for only
/// the caller knows which are none; names are taken to be no secrets. What the library held meanwhile
/// is wiped.
///
/// - Throws: ``JSONReadingError``, which says where and never what.
public func readJSON(
    _ text: Span<UInt8>, limits: JSONLimits = .message
) throws(JSONReadingError) -> JSONValue {
    guard text.count <= limits.bytes else { throw .tooLong(limit: limits.bytes) }
    guard isShallow(text, limit: limits.depth) else { throw .tooDeep(limit: limits.depth) }
    let document = try JanssonDocument(parsing: text)
    return try document.value()
}

/// The same for a text that is a secret as a whole.
public func readJSON(
    _ text: SecretBytes, limits: JSONLimits = .message
) throws(JSONReadingError) -> JSONValue {
    try text.withBytes { text throws(JSONReadingError) in try readJSON(text, limits: limits) }
}

/// Whether no more than `limit` brackets are open at once.
///
/// Right for every text that is JSON; what is none is refused by the library whatever this says.
private func isShallow(_ text: Span<UInt8>, limit: Int) -> Bool {
    var depth = 0
    var isText = false
    var isEscaped = false
    for index in text.indices {
        let byte = text[index]
        if isText {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isText = false
            }
            continue
        }
        switch byte {
        case UInt8(ascii: "\""): isText = true
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            depth += 1
            if depth > limit { return false }
        case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
        default: break
        }
    }
    return true
}
