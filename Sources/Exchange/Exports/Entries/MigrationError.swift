public import WatchwordCryptography

/// Why a text is not part of a Google Authenticator export.
///
/// It reports the position, never the content.
public enum MigrationError: Error, Hashable, Sendable {
    /// It does not begin with `otpauth-migration://offline`.
    case notAMigrationURI
    /// It is longer than ``MigrationBatch/maximumCount``.
    case tooLong
    /// The parameter `data` is missing.
    case missingData
    /// A parameter occurs twice.
    case duplicateParameter
    /// `data` is not Base64.
    case base64(Base64Error)
    /// The payload ends in the middle of a field.
    case truncated
    /// The payload is not a Protocol Buffers message; the position counts its bytes.
    case malformed(at: Int)
    /// The field of the payload with this number occurs twice or has the wrong type.
    case field(Int)
    /// The version is neither 1 nor 2.
    case unknownVersion
    /// A number of parts below zero or above ``MigrationBatch/maximumSize``.
    case sizeOutOfRange
    /// An index beyond the number of parts.
    case indexOutOfRange
}

/// A deviation that was accepted in a part of an export.
public enum MigrationWarning: Hashable, Sendable {
    /// Base64 without its padding.
    case missingPadding
    /// A space where Base64 has a plus sign: the text was decoded once too often.
    case spaceAsPlus
    /// The alphabet of URLs, with `-` and `_`.
    case urlSafeAlphabet
    /// A parameter of the URI other than `data`, which is ignored.
    case unknownParameter
    /// The number of parts is missing and treated as one.
    case missingSize
    /// An unknown field of the payload (entry `nil`) or of an entry, counted from zero.
    case unknownField(entry: Int?, field: Int)
    /// The entry has no algorithm. SHA-1 is used, which is Google Authenticator's own default.
    case missingAlgorithm(entry: Int)
    /// The entry has no number of digits. Six is used.
    case missingDigits(entry: Int)
    /// The entry has no type. TOTP is used.
    case missingType(entry: Int)
    /// A name is not UTF-8 and was read as Latin-1.
    case readAsLatin1(entry: Int)
    /// Spaces around a name were removed.
    case spacesAround(entry: Int)
}

/// An entry that cannot be imported, although the rest of its part can.
public struct MigrationRefusal: Hashable, Sendable {
    /// The reason for a refusal.
    public enum Reason: Hashable, Sendable {
        case missingKey, unknownAlgorithm, unknownDigits, unknownType, counterOutOfRange, tooLong
    }

    /// The entry's index in its part, counted from zero.
    public let entry: Int
    /// The reason.
    public let reason: Reason
}
