/// Why a key, a credential, a key URI or a code is refused.
///
/// It names the part and the position, never the content.
public enum OneTimePasswordError: Error, Hashable, Sendable {
    // The text of a key.
    /// A character outside Base32's alphabet, or anything after the padding.
    case notBase32(at: Int)
    /// A character that is not a hexadecimal digit.
    case notHexadecimal(at: Int)
    /// The last hexadecimal digit has no partner.
    case oddDigitCount
    /// A deviation that a strict reading of Base32 or of a key URI refuses.
    case notStrict(KeyURIWarning)

    // A credential.
    /// The key is empty or, in a URI, missing.
    case emptyKey
    /// The issuer or the account begins or ends with a space of any kind, which a key URI does not
    /// preserve.
    case spaceAround(KeyURIPart)
    /// A URI, or the URI that a credential could need, is longer than ``KeyURI/maximumCount``.
    case tooLong
    /// A parameter occurs twice, or has the name of one of the credential's own parameters.
    case parameter(position: Int)

    // A key URI.
    /// It does not begin with `otpauth://` (or `apple-otpauth://`).
    case notAKeyURI
    /// The type is not `totp`, `hotp` or `steam`.
    case unknownType
    /// A parameter occurs twice.
    case doubled(KeyURIPart)
    /// An algorithm other than SHA-1, SHA-256 and SHA-512; it is never replaced with SHA-1.
    case unknownAlgorithm
    /// An encoder other than `steam` and `decimal`, or `decimal` for the type `steam`.
    case unknownEncoder
    /// Not a decimal number.
    case notANumber(KeyURIPart)
    /// A number outside the range for this part.
    case outOfRange(KeyURIPart)

    // A code.
    /// The credential is HOTP and a time was given, or it is TOTP and a counter was given.
    case otherMovingFactor
    /// The time is before the first step.
    case beforeStart
}
