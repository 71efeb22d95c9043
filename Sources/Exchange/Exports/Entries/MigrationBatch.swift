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

    /// Checks and combines the content of a part to be written.
    ///
    /// - Parameters:
    ///   - size: At most ``maximumSize``.
    ///   - index: Less than `size`.
    ///   - version: 1 or 2.
    /// - Returns: `nil` for values that the format cannot represent: any other number, or an entry
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
    /// The text does not begin with `otpauth-migration://offline`.
    case notAMigrationURI
    /// The text is longer than ``MigrationBatch/maximumCount``.
    case tooLong
    /// The parameter `data` is missing.
    case missingData
    /// A parameter occurs twice.
    case duplicateParameter
    /// `data` is not Base64.
    case base64(CryptographyError)
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
    /// Why the entry cannot be imported.
    public let reason: Reason
}

/// One Google Authenticator export, assembled from parts in any order.
public struct MigrationSet: Sendable {
    /// The number of parts in the export.
    public let size: Int
    /// The export's identifier; 0 for version 2, whose exports differ only in size and index.
    public let id: Int32
    /// The version, which all parts share.
    public let version: Int
    private var batches: [Int: MigrationBatch]

    /// Starts with one part.
    public init(_ first: MigrationBatch) {
        size = first.size
        id = first.id
        version = first.version
        batches = [first.index: first]
    }

    /// The indexes of the missing parts, counted from zero.
    public var missing: [Int] { (0..<size).filter { batches[$0] == nil } }

    /// Whether every part is present.
    public var isComplete: Bool { batches.count == size }

    /// The credentials of the parts that are present, in the export's order.
    public var credentials: [Credential] {
        (0..<size).flatMap { batches[$0]?.credentials ?? [] }
    }

    /// The result of adding a part.
    public enum Outcome: Hashable, Sendable {
        /// The part was missing and was added.
        case added
        /// The part was already present, with the same content.
        case repeated
        /// The part belongs to a different export.
        case foreign
    }

    /// Adds a part if it belongs to this export.
    public mutating func add(_ batch: MigrationBatch) -> Outcome {
        guard batch.size == size, batch.id == id, batch.version == version else { return .foreign }
        guard let present = batches[batch.index] else {
            batches[batch.index] = batch
            return .added
        }
        return present.hasSameContent(as: batch) ? .repeated : .foreign
    }
}

/// All exports of which parts were added.
public struct MigrationCollection: Sendable {
    /// The exports, in the order in which their first parts were added.
    public private(set) var sets: [MigrationSet] = []
    private var families: [Family.Key: Family] = [:]

    /// Exports that can be distinguished only by their parts.
    private struct Family {
        struct Key: Hashable {
            let version: Int
            let size: Int
            let id: Int32
        }

        struct Part: Hashable {
            let index: Int
            let contentHash: Int
        }

        /// The exports' indexes in the collection's `sets`, in ascending order.
        var sets: [Int] = []
        /// How many of these exports have a part with this index.
        ///
        /// These are always the first exports, because each part is added to the first export that
        /// lacks it.
        var counts: [Int: Int] = [:]
        /// The indexes in `sets` of the exports that have a part with this content.
        var holders: [Part: [Int]] = [:]
    }

    /// Starts with an empty collection.
    public init() {}

    /// Adds a part to the first export that it belongs to, or starts a new export with it.
    ///
    /// The time that this takes does not depend on the number of exports.
    ///
    /// - Returns: whether the part was already present.
    @discardableResult
    public mutating func add(_ batch: MigrationBatch) -> MigrationSet.Outcome {
        let key = Family.Key(version: batch.version, size: batch.size, id: batch.id)
        let part = Family.Part(index: batch.index, contentHash: batch.contentHash)
        var family = families.removeValue(forKey: key) ?? Family()
        defer { families[key] = family }
        for place in family.holders[part, default: []] where sets[place].holds(batch) {
            return .repeated
        }
        let count = family.counts[batch.index, default: 0]
        family.counts[batch.index] = count + 1
        if count == family.sets.count {
            family.sets.append(sets.count)
            sets.append(MigrationSet(batch))
        } else {
            _ = sets[family.sets[count]].add(batch)
        }
        family.holders[part, default: []].append(family.sets[count])
        return .added
    }
}

extension MigrationSet {
    /// Whether the part is present with the same content.
    fileprivate func holds(_ batch: MigrationBatch) -> Bool {
        batches[batch.index]?.hasSameContent(as: batch) ?? false
    }
}

extension MigrationBatch {
    fileprivate func hasSameContent(as other: MigrationBatch) -> Bool {
        credentials == other.credentials && refusals == other.refusals
    }

    /// A hash of the part's content.
    ///
    /// It is keyed with a random key of this process, so nobody can construct parts that collide.
    fileprivate var contentHash: Int {
        var hasher = Hasher()
        hasher.combine(refusals)
        for credential in credentials {
            hasher.combine(credential.issuer)
            hasher.combine(credential.account)
            credential.key.withBytes { bytes in
                for index in bytes.indices { hasher.combine(bytes[index]) }
            }
        }
        return hasher.finalize()
    }
}
