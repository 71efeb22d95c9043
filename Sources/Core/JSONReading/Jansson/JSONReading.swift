internal import CJansson
public import WatchwordCoding
public import WatchwordCryptography

/// Limits for JSON input.
public struct JSONLimits: Hashable, Sendable {
    /// The maximum length of the text in bytes.
    public let bytes: Int
    /// The maximum nesting depth of lists and objects.
    public let depth: Int
    /// The maximum number of values; each takes far more memory than its text.
    public let values: Int

    /// The limits for a request or a response: 64 KiB, eight levels, 1,024 values.
    public static let message = JSONLimits(bytes: 64 << 10, depth: 8, values: 1_024)

    /// Combines the limits.
    ///
    /// The depth is at most 2,000, because the library's own limit is 2,048.
    public init(bytes: Int, depth: Int, values: Int = .max) {
        precondition((0...2_000).contains(depth), "the depth is 0 to 2,000")
        self.bytes = bytes
        self.depth = depth
        self.values = values
    }
}

/// Which numbers and texts are accepted.
public enum JSONContent: Hashable, Sendable {
    /// Whole numbers, and texts of Unicode scalars without NUL; anything else is refused.
    case strict
    /// The same, but with any number, as in ``any``.
    case anyNumbers
    /// Everything that programs write: a number that is not whole or exceeds 64 bits is read as
    /// ``JSONValue/otherNumber``, a number above `Int64` as ``JSONValue/counter(_:)``, and an
    /// escaped unpaired surrogate as U+FFFD; texts may contain NUL.
    case any
}

/// Reads an object or a list (RFC 8259) strictly.
///
/// It refuses invalid UTF-8, duplicate names in an object, NUL in names, anything but white space
/// before or after the value, input beyond the limits, and, unless `content` allows them, numbers
/// that are not whole (`6.0` and `6e0` are whole, as in JSON Schema) or exceed `Int64`, NUL in
/// texts, and unpaired surrogates. Members keep their order. Every text is returned as
/// ``JSONValue/secret(_:)``, because only the caller knows which ones are not secret; names are
/// assumed not to be secret. The library's own copies are wiped.
///
/// - Throws: ``JSONReadingError``, which reports the position, never the content.
public func readJSON(
    _ text: Span<UInt8>, limits: JSONLimits = .message, content: JSONContent = .strict
) throws(JSONReadingError) -> JSONValue {
    guard text.count <= limits.bytes else { throw .tooLong(limit: limits.bytes) }
    try checkShape(text, limits)
    if content == .any, let replaced = text.replacingLoneSurrogates() {
        return try replaced.withBytes { text throws(JSONReadingError) in
            try JanssonDocument(parsing: text, content).value()
        }
    }
    return try JanssonDocument(parsing: text, content).value()
}

/// Reads JSON that is secret as a whole.
public func readJSON(
    _ text: SecretBytes, limits: JSONLimits = .message, content: JSONContent = .strict
) throws(JSONReadingError) -> JSONValue {
    try text.withBytes { text throws(JSONReadingError) in
        try readJSON(text, limits: limits, content: content)
    }
}

/// Checks the depth and the number of values before anything is allocated for them.
///
/// The result is correct for all valid JSON. The library refuses other text regardless.
private func checkShape(_ text: Span<UInt8>, _ limits: JSONLimits) throws(JSONReadingError) {
    var depth = 0
    var values = 1
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
            values += 1
            if depth > limits.depth { throw .tooDeep(limit: limits.depth) }
        case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
        case UInt8(ascii: ","): values += 1
        default: continue
        }
        if values > limits.values { throw .tooManyValues(limit: limits.values) }
    }
}

/// Why a text could not be read as JSON.
///
/// It reports the position, never the content.
public enum JSONReadingError: Error, Hashable, Sendable {
    /// The text has more bytes than the limit.
    case tooLong(limit: Int)
    /// The text has more levels than the limit.
    case tooDeep(limit: Int)
    /// The text has more values than the limit.
    case tooManyValues(limit: Int)
    /// The text is not JSON, or is not an object or a list; the position is in bytes.
    case syntax(at: Int)
    /// The text ends before the value does.
    case incomplete
    /// There is something other than white space after the value.
    case trailing(at: Int)
    /// Invalid UTF-8 at this position in bytes.
    case notUTF8(at: Int)
    /// U+0000 in a text or a name.
    case nul(at: Int)
    /// A name that occurs twice in one object.
    case duplicateName(at: Int)
    /// A number that is not whole or exceeds `Int64`, or 2^53 if it has a decimal point or an
    /// exponent.
    case notWhole
    /// The library ran out of memory.
    case noMemory
}
