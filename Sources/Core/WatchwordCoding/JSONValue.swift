public import WatchwordCryptography
internal import WatchwordSystem

/// A JSON value (RFC 8259).
///
/// The members of an object keep their order.
///
/// A secret is written and read without ever becoming a `String`. Fractions have no value, because
/// Watchword neither writes nor uses any.
public enum JSONValue: Sendable {
    /// A text that is not secret.
    case text(String)
    /// A text that may be secret, as UTF-8.
    case secret(SecretBytes)
    /// A whole number from -2^63 to 2^63 - 1.
    case number(Int64)
    /// A whole number that may exceed `Int64`.
    case counter(UInt64)
    /// A number that is not whole or exceeds `Int64`, whose value is not kept; written as `null`.
    case otherNumber
    /// The literal `true` or `false`.
    case flag(Bool)
    /// The literal `null`.
    case null
    /// The elements of an array, in order.
    case list([JSONValue])
    /// The members of an object, in order.
    case object([(String, JSONValue)])

    /// The value as JSON on one line, without a line ending.
    public func rendered() -> SecretBytes {
        SecretBytes(capacity: bound) { output in write(into: &output) }
    }

    /// The value as JSON on one line, with a line ending.
    public func renderedLine() -> SecretBytes {
        SecretBytes(capacity: bound + 1) { output in
            write(into: &output)
            output.append(UInt8(ascii: "\n"))
        }
    }

    /// An upper bound for the length of the JSON: a byte becomes at most six (`\u001b`).
    private var bound: Int {
        switch self {
        case .text(let text): 2 + 6 * text.utf8.count
        case .secret(let secret): 2 + 6 * secret.count
        case .number, .counter: 20
        case .flag, .null, .otherNumber: 5
        case .list(let values): 2 + values.reduce(0) { $0 + $1.bound + 1 }
        case .object(let members):
            2 + members.reduce(0) { $0 + 6 * $1.0.utf8.count + $1.1.bound + 4 }
        }
    }

    private func write(into output: inout OutputSpan<UInt8>) {
        switch self {
        case .text(let text): JSONValue.write(text, into: &output)
        case .secret(let secret):
            secret.withBytes { JSONValue.write($0, into: &output) }
        case .number(let number): output.append(ascii: String(number))
        case .counter(let number): output.append(ascii: String(number))
        case .flag(let flag): output.append(ascii: flag ? "true" : "false")
        case .null, .otherNumber: output.append(ascii: "null")
        case .list(let values):
            output.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                value.write(into: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, (name, value)) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSONValue.write(name, into: &output)
                output.append(UInt8(ascii: ":"))
                value.write(into: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, into output: inout OutputSpan<UInt8>) {
        write(Array(text.utf8).span, into: &output)
    }

    // Terminal control characters are escaped although JSON does not require it, because JSON is
    // often shown on terminals.
    private static func write(_ bytes: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\""))
        // Most texts contain only characters that need no escaping.
        let plain = bytes.indices.first { !isPlain(bytes[$0]) } ?? bytes.count
        output.append(copying: bytes.extracting(..<plain))
        writeEscaping(bytes.extracting(plain...), into: &output)
        output.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func writeEscaping(
        _ bytes: Span<UInt8>, into output: inout OutputSpan<UInt8>
    ) {
        var scalars = TextScalars()
        while let element = scalars.next(in: bytes) {
            switch element {
            case .scalar("\""): output.append(ascii: "\\\"")
            case .scalar("\\"): output.append(ascii: "\\\\")
            case .scalar("\n"): output.append(ascii: "\\n")
            case .scalar("\t"): output.append(ascii: "\\t")
            case .scalar(let scalar) where scalar.isInvisible:
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    output.append(ascii: "\\u" + fourDigits(unit))
                }
            case .scalar(let scalar): output.append(scalar)
            // Callers pass text; an invalid byte must not make the JSON unreadable.
            case .stray: output.append(ascii: "\u{FFFD}")
            }
        }
    }

    private static func fourDigits(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension JSONValue {
    /// A member `name` with `bytes` as text, or a member `base64` if they are not UTF-8.
    public static func text(named name: String, _ bytes: SecretBytes) -> (String, JSONValue) {
        let isText = bytes.withBytes { bytes in
            var scalars = TextScalars()
            while let element = scalars.next(in: bytes) {
                if case .stray = element { return false }
            }
            return true
        }
        return isText ? (name, .secret(bytes)) : ("base64", .secret(Base64.encode(bytes)))
    }
}

extension OutputSpan<UInt8> {
    package mutating func append(ascii text: String) {
        for byte in text.utf8 { append(byte) }
    }

    /// Appends the scalar as UTF-8.
    package mutating func append(_ scalar: Unicode.Scalar) {
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { append(byte) }
    }
}

extension JSONValue {
    /// The members of an object.
    public var members: [(String, JSONValue)]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The elements of a list.
    public var elements: [JSONValue]? {
        guard case .list(let elements) = self else { return nil }
        return elements
    }

    /// The object's first member with this name.
    public subscript(name: String) -> JSONValue? {
        members?.first { $0.0 == name }?.1
    }

    /// A text that is known not to be secret: the copy is never wiped.
    public var string: String? {
        switch self {
        case .text(let text): text
        case .secret(let bytes):
            bytes.withBytes { bytes in
                String(validating: [UInt8](copying: bytes), as: UTF8.self)
            }
        default: nil
        }
    }

    /// A text that may be secret.
    public var secretText: SecretBytes? {
        switch self {
        case .text(let text): SecretBytes(copying: Array(text.utf8).span)
        case .secret(let bytes): bytes
        default: nil
        }
    }

    /// A whole number that is not negative; it may exceed `Int64`.
    public var wholeNumber: UInt64? {
        switch self {
        case .number(let number): UInt64(exactly: number)
        case .counter(let number): number
        default: nil
        }
    }

    /// The Boolean; `nil` for a value of any other kind.
    public var truth: Bool? {
        guard case .flag(let flag) = self else { return nil }
        return flag
    }
}

/// Decodes UTF-8 scalar by scalar, and reports each invalid byte.
package struct TextScalars {
    package enum Element: Hashable {
        case scalar(Unicode.Scalar)
        case stray(UInt8)
    }

    private var position = 0

    package init() {}

    /// The next scalar or invalid byte of `bytes`, after the previous one.
    package mutating func next(in bytes: Span<UInt8>) -> Element? {
        guard position < bytes.count else { return nil }
        let first = bytes[position]
        let (count, bits): (Int, UInt32) =
            switch first {
            case 0x00...0x7F: (1, UInt32(first))
            case 0xC2...0xDF: (2, UInt32(first & 0x1F))
            case 0xE0...0xEF: (3, UInt32(first & 0x0F))
            case 0xF0...0xF4: (4, UInt32(first & 0x07))
            default: (0, 0)
            }
        if let scalar = scalar(of: count, beginning: bits, in: bytes) {
            position += count
            return .scalar(scalar)
        }
        position += 1
        return .stray(first)
    }

    private func scalar(of count: Int, beginning bits: UInt32, in bytes: Span<UInt8>)
        -> Unicode.Scalar?
    {
        guard count > 0, position + count <= bytes.count else { return nil }
        var value = bits
        for index in position + 1..<position + count {
            guard bytes[index] & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(bytes[index] & 0x3F)
        }
        // Overlong encodings and surrogates are not valid UTF-8.
        let smallest: [UInt32] = [0, 0, 0x80, 0x800, 0x10000]
        guard value >= smallest[count] else { return nil }
        return Unicode.Scalar(value)
    }
}

// The OpenAPI document is written as literals that look like JSON.
extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    /// An object with these members, in this order.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(members) }
    /// A list of these values.
    public init(arrayLiteral values: JSONValue...) { self = .list(values) }
    /// A text that is not secret.
    public init(stringLiteral text: String) { self = .text(text) }
    /// A whole number as ``number(_:)``.
    public init(integerLiteral number: Int64) { self = .number(number) }
    /// A Boolean as ``flag(_:)``.
    public init(booleanLiteral flag: Bool) { self = .flag(flag) }
}
