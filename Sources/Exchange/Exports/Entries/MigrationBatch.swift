public import OneTimePassword
public import WatchwordCryptography

/// One part of a Google Authenticator export, `otpauth-migration://offline?data=…`.
///
/// A large export is shown as several QR codes; ``MigrationSet`` assembles them.
public struct MigrationBatch: Sendable {
    /// The version of the export: 1 or 2, or 0 if it is missing.
    public let version: Int
    /// The number of parts in the export, at least one.
    public let size: Int
    /// The index of this part, counted from zero.
    public let index: Int
    /// The export's random identifier, the same in all its parts; always 0 in exports of version 2.
    public let id: Int32
    /// The entries that were read, in order.
    public let credentials: [Credential]
    /// The entries that were refused.
    public let refusals: [MigrationRefusal]
    /// The deviations that were accepted.
    public let warnings: [MigrationWarning]

    /// The maximum length of a URI in bytes.
    public static let maximumCount = 1 << 20
    /// The maximum number of parts; real exports have ten entries in each part.
    public static let maximumSize = 1_000
}

extension MigrationBatch {
    /// Reads a URI.
    ///
    /// - Throws: ``MigrationError`` if the whole part is invalid. A single invalid entry is added
    ///   to ``refusals`` instead.
    public init(parsing text: Span<UInt8>) throws(MigrationError) {
        var warnings: [MigrationWarning] = []
        let payload = try MigrationURI.payload(of: text, warnings: &warnings)
        self = try payload.withBytes { bytes throws(MigrationError) in
            try MigrationBatch(payload: bytes, warnings: warnings)
        }
    }

    /// Creates a part to be written.
    ///
    /// - Parameters:
    ///   - size: At most ``maximumSize``.
    ///   - index: Less than `size`.
    ///   - version: 1 or 2.
    /// - Returns: `nil` for values that the format cannot represent: another number, or an entry
    ///   with a number of digits other than six or eight, a period other than thirty seconds, a
    ///   start (T0) other than the epoch, Steam's alphabet, a counter above 2^63 - 1, or other
    ///   parameters.
    public init?(
        credentials: [Credential], size: Int = 1, index: Int = 0, id: Int32, version: Int = 1
    ) {
        guard (1...Self.maximumSize).contains(size), (0..<size).contains(index),
            (1...2).contains(version),
            credentials.allSatisfy({ MigrationEntryWriter($0) != nil })
        else { return nil }
        self.init(
            version: version, size: size, index: index, id: id, credentials: credentials,
            refusals: [], warnings: [])
    }

    /// Whether `text` begins like a migration URI.
    ///
    /// The rest may still be invalid.
    public static func isMigrationURI(_ text: Span<UInt8>) -> Bool {
        text.hasPrefixIgnoringCase(MigrationURI.prefix)
    }
}

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
