internal import WatchwordCryptography

public import OneTimePassword

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

    init(
        version: Int, size: Int, index: Int, id: Int32, credentials: [Credential],
        refusals: [MigrationRefusal], warnings: [MigrationWarning]
    ) {
        self.version = version
        self.size = size
        self.index = index
        self.id = id
        self.credentials = credentials
        self.refusals = refusals
        self.warnings = warnings
    }

    /// Whether `text` begins like a migration URI.
    ///
    /// The rest may still be invalid.
    public static func isMigrationURI(_ text: Span<UInt8>) -> Bool {
        text.hasPrefixIgnoringCase(MigrationURI.prefix)
    }
}
