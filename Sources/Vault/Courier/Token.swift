internal import WatchwordCoding
public import WatchwordCryptography
package import WatchwordSystem

/// An identifier that a server creates: a few letters, an underscore, and Base64url.
///
/// It needs no escaping in a header, in a line of text or in JSON.
public struct Token: Hashable, Sendable {
    /// The token as text of at most 255 ASCII characters.
    public let text: String

    /// Accepts 1 to 255 letters, digits, dashes and underscores.
    public init?(_ text: String) {
        guard (1...Token.longest).contains(text.utf8.count), text.utf8.allSatisfy(Token.isLetter)
        else { return nil }
        self.text = text
    }

    /// The maximum length of a token in bytes.
    package static let longest = 255

    /// Whether `bytes` form a token.
    ///
    /// For secrets, which must not become a `String`.
    public static func isToken(_ bytes: SecretBytes) -> Bool {
        bytes.withBytes { bytes in
            guard (1...longest).contains(bytes.count) else { return false }
            return bytes.indices.allSatisfy { isLetter(bytes[$0]) }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

/// Sixteen random bytes that a device sends with its secret, and sends again with every retry.
public struct RotationNonce: Hashable, Sendable {
    /// The length in bytes.
    public static let count = 16
    /// The random bytes.
    public let bytes: [UInt8]

    /// Accepts exactly sixteen bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == RotationNonce.count else { return nil }
        self.bytes = bytes
    }

    /// Generates a new nonce.
    public static func random() -> RotationNonce {
        RotationNonce(made: Randomness.bytes(count: count))
    }

    private init(made bytes: [UInt8]) { self.bytes = bytes }

    /// The nonce in Base64url without padding (RFC 4648, section 5), as in requests.
    public var text: String { Base64URL.encode(bytes.span) }
}

/// Printable ASCII, at most 127 characters, so that text from a server can be shown.
public struct PlainText: Hashable, Sendable {
    /// The text after the replacement of all other characters.
    public let text: String

    static let longest = 127

    /// Replaces all other characters of `text` with question marks, and truncates it.
    public init(showing text: String) {
        let bytes = text.utf8.prefix(PlainText.longest)
        self.text = String(
            decoding: bytes.map { PlainText.isPlain($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    static func isPlain(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) }
}

extension Token: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        guard let token = Token(try fields.text(bytes, limit: Token.longest)) else {
            throw Unreadable()
        }
        self = token
    }
}

extension FieldReader {
    mutating func secretToken(_ bytes: Span<UInt8>) throws(Unreadable) -> SecretBytes {
        let secret = try secret(bytes, limit: Token.longest)
        guard Token.isToken(secret) else { throw Unreadable() }
        return secret
    }
}

extension PlainText: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let text = try fields.text(bytes, limit: PlainText.longest)
        self.init(showing: text)
        guard self.text == text else { throw Unreadable() }
    }
}
