internal import Cryptography

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
