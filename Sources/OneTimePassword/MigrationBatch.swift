internal import Cryptography

/// One part of an export of Google Authenticator, `otpauth-migration://offline?data=…`.
///
/// An export of many entries is shown as several QR pictures; ``MigrationSet`` puts them together.
public struct MigrationBatch: Sendable {
    /// The version of the export: 1 or 2, or 0 when nothing is said.
    public let version: Int
    /// How many parts the export has, at least one.
    public let size: Int
    /// Which of the parts this is, counted from zero.
    public let index: Int
    /// The export's random number, the same in all its parts; always 0 in exports of version 2.
    public let id: Int32
    /// The entries that were understood, in their order.
    public let credentials: [Credential]
    /// The entries that were not.
    public let refusals: [MigrationRefusal]
    /// What had to be tolerated.
    public let warnings: [MigrationWarning]

    /// The most bytes of a URI that are read.
    public static let maximalCount = 1 << 20
    /// The most parts of an export; real ones have ten entries in each.
    public static let maximalSize = 1_000

    /// Reads a URI.
    ///
    /// - Throws: ``MigrationError``, for what spoils the whole part; an entry alone that is not
    ///   understood becomes
    ///   one of ``refusals``.
    public init(parsing text: Span<UInt8>) throws(MigrationError) {
        var warnings: [MigrationWarning] = []
        let payload = try MigrationURI.payload(of: text, warnings: &warnings)
        self = try payload.withBytes { bytes throws(MigrationError) in
            try MigrationBatch(payload: bytes, warnings: warnings)
        }
    }

    /// Puts a part together, to be written.
    ///
    /// - Throws: ``MigrationWritingError`` for what the format has no room for.
    public init(
        credentials: [Credential], size: Int = 1, index: Int = 0, id: Int32, version: Int = 1
    ) throws(MigrationWritingError) {
        guard (1...Self.maximalSize).contains(size), (0..<size).contains(index) else {
            throw .sizeOrIndex
        }
        guard (1...2).contains(version) else { throw .version }
        for (position, credential) in credentials.enumerated() {
            guard MigrationEntryWriter(credential) != nil else { throw .entry(position) }
        }
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

    /// Whether `text` begins as a migration URI does; the rest may still be wrong.
    public static func isMigrationURI(_ text: Span<UInt8>) -> Bool {
        text.hasPrefixIgnoringCase(MigrationURI.prefix)
    }
}

/// What Google's export has no room for.
public enum MigrationWritingError: Error, Hashable, Sendable {
    /// The parts' number or the part's place does not fit.
    case sizeOrIndex
    /// Versions 1 and 2 are known.
    case version
    /// An entry with other than six or eight digits, thirty seconds from the epoch on, Steam's
    /// alphabet, a counter above 2^63 - 1, or parameters of its own; its place.
    case entry(Int)
}
