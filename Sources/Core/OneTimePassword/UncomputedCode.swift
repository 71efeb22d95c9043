public import WatchwordCryptography

/// A code that Watchword does not compute, as its app stored it.
public struct UncomputedCode: Sendable {
    /// The kind of code.
    public enum Kind: UInt8, CaseIterable, Hashable, Sendable {
        /// Yandex Key: eight letters, from a secret and a PIN.
        case yandex
        /// Mobile-OTP: six hexadecimal digits, from a secret and a PIN.
        case motp
    }

    /// The kind of code.
    public let kind: Kind
    /// The issuer; may be empty.
    public let issuer: String
    /// The account; may be empty.
    public let account: String
    /// The secret; for Mobile-OTP, the text of its hexadecimal digits as the app wrote them.
    public let secret: SecretBytes
    /// The PIN, if the app stored it.
    public let pin: SecretBytes?

    /// Creates a code.
    public init(
        kind: Kind, issuer: String, account: String, secret: SecretBytes, pin: SecretBytes?
    ) {
        self.kind = kind
        self.issuer = issuer
        self.account = account
        self.secret = secret
        self.pin = pin
    }
}
