public import Cryptography

/// The keys that are kept outside the database: without them its rows are worth nothing.
///
/// Each version is 32 random bytes, from which the key that seals seeds, the pepper of digests and
/// the key that rotates enrolled secrets are derived. New rows take the current version; the others
/// open what still hangs on them. Beside them is one lookup key, for what must give the same answer
/// under every version: the blind index of seeds, the digests of tickets and API keys, the marks by
/// which earlier secrets are known, the rows' authentication codes and the chain of events. It opens
/// nothing.
public struct KeyRing: Sendable {
    /// All versions, by number.
    public let versions: [KeyVersion]
    /// The version that new rows take.
    public let current: KeyVersion
    /// What authenticates rows and ties events together.
    public let auditKey: AuditKey
    let lookup: LookupKey
    /// What is checked where there is no credential.
    let standIn: StandIn
    /// The lookup key as the file has it.
    let lookupSecret: SecretBytes

    /// The most versions that a ring holds.
    public static let maximalCount = 16
    /// How many bytes each of the keys has.
    static let keyCount = 32

    /// Puts a ring together.
    init(
        versions: [KeyVersion], current: KeyID, lookup: SecretBytes
    ) throws(KeyRingError) {
        guard (1...Self.maximalCount).contains(versions.count),
            zip(versions, versions.dropFirst()).allSatisfy({ $0.id < $1.id }),
            lookup.count == Self.keyCount
        else { throw .malformed }
        guard let found = versions.first(where: { $0.id == current }) else {
            throw .unknownVersion
        }
        self.versions = versions
        self.current = found
        lookupSecret = lookup
        do throws(CryptographyFailure) {
            self.lookup = try LookupKey(lookup)
            standIn = try StandIn(under: found)
            auditKey = AuditKey(
                events: try lookup.derived("watchword audit key"),
                rows: try lookup.derived("watchword row key"))
        } catch { throw .failed(error) }
    }

    /// Makes a ring of one version.
    public static func make(
        randomness: RandomSource = .system
    ) throws(KeyRingError) -> KeyRing {
        guard let first = KeyID(1) else { throw .malformed }
        return try KeyRing(
            versions: [KeyVersion(first, try secret(randomness))], current: first,
            lookup: try secret(randomness))
    }

    /// The ring with a new version behind the others.
    ///
    /// Every node has to know a version before the first one writes with it: hand out the ring with
    /// the new version first, and then make it the current one.
    ///
    /// - Throws: ``KeyRingError/full``.
    public func adding(
        makingCurrent: Bool, randomness: RandomSource = .system
    ) throws(KeyRingError) -> KeyRing {
        let last = versions[versions.count - 1].id.number
        guard versions.count < Self.maximalCount, last < .max, let id = KeyID(last + 1) else {
            throw .full
        }
        let version = try KeyVersion(id, try Self.secret(randomness))
        return try KeyRing(
            versions: versions + [version], current: makingCurrent ? id : current.id,
            lookup: lookupSecret)
    }

    /// The ring with `id` as the version that new rows take.
    public func making(current id: KeyID) throws(KeyRingError) -> KeyRing {
        try KeyRing(versions: versions, current: id, lookup: lookupSecret)
    }

    /// The ring without `id`; what still hangs on it can't be used any more.
    ///
    /// - Throws: ``KeyRingError/isCurrent`` for the current version.
    public func retiring(_ id: KeyID) throws(KeyRingError) -> KeyRing {
        guard versions.contains(where: { $0.id == id }) else { throw .unknownVersion }
        guard id != current.id else { throw .isCurrent }
        return try KeyRing(
            versions: versions.filter { $0.id != id }, current: current.id, lookup: lookupSecret)
    }

    /// The version with this number.
    func version(_ id: KeyID) -> KeyVersion? { versions.first { $0.id == id } }

    private static func secret(_ randomness: RandomSource) throws(KeyRingError) -> SecretBytes {
        do throws(CryptographyFailure) {
            return try randomness.secret(keyCount)
        } catch { throw .failed(error) }
    }
}

/// Why there is no such ring of keys.
public enum KeyRingError: Error, Hashable, Sendable {
    /// It is no key file, or not a whole one; where, never what stands there.
    case malformed
    /// A newer version of the program wrote it.
    case newer
    /// There is no version with this number.
    case unknownVersion
    /// The current version can't be retired.
    case isCurrent
    /// There are as many versions as a ring holds.
    case full
    /// OpenSSL could not do its work.
    case failed(CryptographyFailure)
}

extension SecretBytes {
    /// Another key of 32 bytes for another purpose.
    func derived(_ purpose: String) throws(CryptographyFailure) -> SecretBytes {
        let info = Array(purpose.utf8)
        let salt: [UInt8] = []
        return try hkdfSHA256(secret: self, salt: salt.span, info: info.span, count: 32)
    }
}
