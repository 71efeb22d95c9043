public import WatchwordCryptography

/// The keys that are stored outside the database.
///
/// Without them, the rows of the database are useless.
///
/// Each version is 32 random bytes, from which the key that seals seeds, the pepper of digests and
/// the key that rotates enrolled secrets are derived. New rows use the current version; the other
/// versions open the rows that still use them.
///
/// In addition, there is one lookup key, for everything that must be the same under every version:
/// the blind index of seeds, the digests of tickets and API keys, the marks of earlier secrets, the
/// authentication codes of rows and the event chain. It encrypts nothing.
public struct KeyRing: Sendable {
    /// All versions, by number.
    public let versions: [KeyVersion]
    /// The version that new rows use.
    public let current: KeyVersion
    /// The key that authenticates rows and chains events.
    public let auditKey: AuditKey
    package let lookup: LookupKey
    /// The dummy credential that is checked if there is no real one.
    let dummyCredential: DummyCredential
    /// The public keys that are read if there is no real one.
    package let dummyPublicKeys: DummyPublicKeys
    /// The lookup key as stored in the file.
    let lookupSecret: SecretBytes

    /// The maximum number of versions in a ring.
    public static let maximumCount = 16
    /// The number of bytes in each key.
    static let keyCount = 32

    /// Checks and combines the keys.
    init(
        versions: [KeyVersion], current: KeyID, lookup: SecretBytes
    ) throws(VerifierError) {
        guard (1...Self.maximumCount).contains(versions.count),
            zip(versions, versions.dropFirst()).allSatisfy({ $0.id < $1.id }),
            lookup.count == Self.keyCount
        else { throw .keyRing(.malformed) }
        guard let found = versions.first(where: { $0.id == current }) else {
            throw .keyRing(.unknownVersion)
        }
        self.versions = versions
        self.current = found
        lookupSecret = lookup
        self.lookup = LookupKey(lookup)
        dummyCredential = DummyCredential(under: found)
        dummyPublicKeys = DummyPublicKeys(under: found)
        auditKey = AuditKey(
            events: lookup.derived("watchword audit key"),
            rows: lookup.derived("watchword row key"))
    }

    /// Creates a ring with one version.
    public static func make(
        randomness: RandomSource = .system
    ) throws(VerifierError) -> KeyRing {
        try requireAlgorithms()
        guard let first = KeyID(1) else { throw .keyRing(.malformed) }
        return try KeyRing(
            versions: [KeyVersion(first, secret(randomness))], current: first,
            lookup: secret(randomness))
    }

    /// The ring with an additional version.
    ///
    /// Every node must know a version before any node writes with it. Distribute the ring with the
    /// new version first, and then make that version current.
    ///
    /// - Throws: ``VerifierError/keyRing(_:)`` with ``Fault/full``.
    public func adding(
        makingCurrent: Bool, randomness: RandomSource = .system
    ) throws(VerifierError) -> KeyRing {
        let last = versions[versions.count - 1].id.number
        guard versions.count < Self.maximumCount, last < .max, let id = KeyID(last + 1) else {
            throw .keyRing(.full)
        }
        let version = try KeyVersion(id, Self.secret(randomness))
        return try KeyRing(
            versions: versions + [version], current: makingCurrent ? id : current.id,
            lookup: lookupSecret)
    }

    /// The ring with `id` as the version that new rows use.
    public func making(current id: KeyID) throws(VerifierError) -> KeyRing {
        try KeyRing(versions: versions, current: id, lookup: lookupSecret)
    }

    /// The ring without `id`.
    ///
    /// Rows that still use that version can no longer be used.
    ///
    /// - Throws: ``VerifierError/keyRing(_:)`` with ``Fault/isCurrent`` for the current version.
    public func retiring(_ id: KeyID) throws(VerifierError) -> KeyRing {
        guard versions.contains(where: { $0.id == id }) else { throw .keyRing(.unknownVersion) }
        guard id != current.id else { throw .keyRing(.isCurrent) }
        return try KeyRing(
            versions: versions.filter { $0.id != id }, current: current.id, lookup: lookupSecret)
    }

    /// The version with this number.
    func version(_ id: KeyID) -> KeyVersion? { versions.first { $0.id == id } }

    /// Requires the algorithms whose use does not throw.
    ///
    /// Whatever reads or makes keys calls this first.
    static func requireAlgorithms() throws(VerifierError) {
        do { try fetchAlgorithms() } catch { throw .cryptography(error) }
    }

    private static func secret(_ randomness: RandomSource) -> SecretBytes {
        randomness.secret(keyCount)
    }
}

extension KeyRing {
    /// Why a key ring is invalid or cannot be changed.
    public enum Fault: Hashable, Sendable {
        /// The file is not a complete key file.
        case malformed
        /// A newer version of the program wrote the file.
        case newer
        /// The ring has no version with this number.
        case unknownVersion
        /// The current version cannot be retired.
        case isCurrent
        /// The ring already has the maximum number of versions.
        case full
    }
}

extension SecretBytes {
    /// Derives a 32-byte key for another purpose.
    func derived(_ purpose: String) -> SecretBytes {
        let info = Array(purpose.utf8)
        let salt: [UInt8] = []
        return hkdfSHA256(secret: self, salt: salt.span, info: info.span, count: 32)
    }
}

/// The source of random bytes, which tests can replace.
public struct RandomSource: Sendable {
    /// Generates random bytes that are not secret.
    public let bytes: @Sendable (Int) -> [UInt8]
    /// Generates random bytes that are secret.
    public let secret: @Sendable (Int) -> SecretBytes

    /// OpenSSL's generator.
    public static let system = RandomSource(
        bytes: Randomness.bytes, secret: Randomness.secret)

    /// Creates a source from two closures.
    public init(
        bytes: @escaping @Sendable (Int) -> [UInt8],
        secret: @escaping @Sendable (Int) -> SecretBytes
    ) {
        self.bytes = bytes
        self.secret = secret
    }
}
