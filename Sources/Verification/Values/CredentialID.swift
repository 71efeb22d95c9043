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
