internal import Cryptography

/// What a credential is called: 16 random bytes, which tell nothing and are no secret.
///
/// As text it is `cr_` and base64url (RFC 4648, section 5).
public struct CredentialID: Hashable, Comparable, Sendable {
    /// 16 bytes, always.
    public let bytes: [UInt8]

    /// How many bytes there are.
    public static let count = 16

    /// Takes exactly 16 bytes; nothing for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    /// Reads the text form, which each identifier has one of.
    public init?(text: String) {
        guard let bytes = PrefixedText.bytes(of: text, behind: "cr_", count: Self.count) else {
            return nil
        }
        self.bytes = bytes
    }

    /// The text form.
    public var text: String { "cr_" + Base64URL.encode(bytes.span) }

    /// Orders by the bytes, as a database does.
    public static func < (left: CredentialID, right: CredentialID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// What one decision is called, so that a log, an application and an event mean the same one.
///
/// As text it is `vf_` and base64url of 16 random bytes.
public struct VerificationID: Hashable, Sendable {
    /// 16 bytes, always.
    public let bytes: [UInt8]

    /// How many bytes there are.
    public static let count = 16

    /// Takes exactly 16 bytes; nothing for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    /// Reads the text form, which each identifier has one of.
    public init?(text: String) {
        guard let bytes = PrefixedText.bytes(of: text, behind: "vf_", count: Self.count) else {
            return nil
        }
        self.bytes = bytes
    }

    /// The text form.
    public var text: String { "vf_" + Base64URL.encode(bytes.span) }
}

/// Identifiers as text: a prefix that says what it is, then base64url.
enum PrefixedText {
    /// The bytes behind the prefix; nothing unless it is the one right text for `count` bytes.
    static func bytes(of text: String, behind prefix: String, count: Int) -> [UInt8]? {
        let utf8 = Array(text.utf8)
        guard utf8.starts(with: prefix.utf8) else { return nil }
        let rest = Array(utf8.dropFirst(prefix.utf8.count))
        do throws(Base64Error) {
            let bytes = try Base64URL.decode(rest.span)
            return bytes.count == count ? bytes : nil
        } catch {
            return nil
        }
    }
}
