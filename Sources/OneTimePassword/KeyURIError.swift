/// Why a text is no key URI: which part, never what stands there.
public enum KeyURIError: Error, Hashable, Sendable {
    /// It does not begin with `otpauth://` (or `apple-otpauth://`).
    case notAKeyURI
    /// It is longer than ``KeyURI/maximalCount``, or would be if it were written as it should be.
    case tooLong
    /// The type is not `totp`, `hotp` or `steam`.
    case unknownType
    /// A parameter is there twice.
    case doubled(KeyURIPart)
    /// There is no key, or it is empty.
    case missingKey
    /// The key is not Base32.
    case key(Base32Error)
    /// An algorithm other than SHA-1, SHA-256 and SHA-512; it is never read as SHA-1 instead.
    case unknownAlgorithm
    /// An encoder other than `steam` and `decimal`, or `decimal` for the type `steam`.
    case unknownEncoder
    /// Not a decimal number.
    case notANumber(KeyURIPart)
    /// A number that the part cannot have.
    case outOfRange(KeyURIPart)
    /// What a strict reading does not take.
    case notStrict(KeyURIWarning)
}
