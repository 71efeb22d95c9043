/// Why a text is not a key URI.
///
/// It names the part, never its content.
public enum KeyURIError: Error, Hashable, Sendable {
    /// It does not begin with `otpauth://` (or `apple-otpauth://`).
    case notAKeyURI
    /// It is longer than ``KeyURI/maximalCount``, or would be in its canonical form.
    case tooLong
    /// The type is not `totp`, `hotp` or `steam`.
    case unknownType
    /// A parameter occurs twice.
    case doubled(KeyURIPart)
    /// The key is missing or empty.
    case missingKey
    /// The key is not Base32.
    case key(Base32Error)
    /// An algorithm other than SHA-1, SHA-256 and SHA-512; it is never replaced by SHA-1.
    case unknownAlgorithm
    /// An encoder other than `steam` and `decimal`, or `decimal` for the type `steam`.
    case unknownEncoder
    /// Not a decimal number.
    case notANumber(KeyURIPart)
    /// A number outside the range for this part.
    case outOfRange(KeyURIPart)
    /// A deviation that a strict reading refuses.
    case notStrict(KeyURIWarning)
}
