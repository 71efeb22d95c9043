public import Cryptography

/// Why a text is no part of an export of Google Authenticator: where, never what stands there.
public enum MigrationError: Error, Hashable, Sendable {
    /// It does not begin with `otpauth-migration://offline`.
    case notAMigrationURI
    /// It is longer than ``MigrationBatch/maximalCount``.
    case tooLong
    /// There is no parameter `data`.
    case missingData
    /// A parameter is there twice.
    case doubledParameter
    /// `data` is not Base64.
    case base64(Base64Error)
    /// The payload ends in the middle of something.
    case truncated
    /// The payload is no message of protocol buffers; the place counts its bytes.
    case malformed(at: Int)
    /// A field of the payload is there twice or has another type; its number in the message.
    case field(Int)
    /// A version that is not known: 1 and 2 are.
    case unknownVersion
    /// A number of parts below zero or above ``MigrationBatch/maximalSize``.
    case sizeOutOfRange
    /// A part beyond the number of parts.
    case indexOutOfRange
}

/// What had to be tolerated in a part of an export.
public enum MigrationWarning: Hashable, Sendable {
    /// Base64 without its padding.
    case missingPadding
    /// A space where Base64 has a plus sign: somebody decoded the text once too often.
    case spaceAsPlus
    /// A parameter of the URI beside `data`, which is ignored.
    case unknownParameter
    /// The number of parts is not said and taken as one.
    case missingSize
    /// A field that nothing is known of, of the payload (entry nil) or of an entry, counted from
    /// zero.
    case unknownField(entry: Int?, field: Int)
    /// The entry does not say its algorithm, which is taken as SHA-1, Google Authenticator's own
    /// default.
    case unsaidAlgorithm(entry: Int)
    /// The entry does not say how many digits, which is taken as six.
    case unsaidDigits(entry: Int)
    /// A name is no UTF-8 and was read as Latin-1.
    case readAsLatin1(entry: Int)
    /// Spaces around a name were dropped.
    case spacesAround(entry: Int)
}

/// An entry that cannot be taken over, though the rest of its part can.
public struct MigrationRefusal: Hashable, Sendable {
    /// Why.
    public enum Reason: Hashable, Sendable {
        case missingKey, unknownAlgorithm, unknownDigits, unknownType, counterOutOfRange, tooLong
    }

    /// The entry's place in its part, counted from zero.
    public let entry: Int
    /// Why it cannot be taken over.
    public let reason: Reason
}
