public import WatchwordCryptography
public import WatchwordSystem

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
/// authentication codes of rows and the event chain. The lookup key encrypts nothing.
public struct KeyRing: Sendable {
    /// All versions, ordered by number.
    public let versions: [KeyVersion]
    /// The version that new rows use.
    public let current: KeyVersion
    /// The key that authenticates rows and chains events.
    public let auditKey: AuditKey
    package let lookup: LookupKey
    /// The dummy credential that is checked if there is no real credential.
    let dummyCredential: DummyCredential
    /// The dummy public keys that are read if there is no real key.
    package let dummyPublicKeys: DummyPublicKeys
    /// The lookup key as stored in the file.
    let lookupSecret: SecretBytes

    /// The maximum number of versions in a ring.
    public static let maximumCount = 16
    /// The number of bytes in each key.
    static let keyCount = 32

    /// Checks and combines the versions and the lookup key.
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

    /// Generates a ring with one version.
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
    /// Every node must have a version before any node writes with the version. Distribute the ring
    /// with the new version first, and then make that version current.
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

    /// Requires the algorithms that later calls use without throwing errors.
    ///
    /// Everything that reads or makes keys calls this method first.
    static func requireAlgorithms() throws(VerifierError) {
        try VerifierError.cryptography(in: fetchAlgorithms())
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

        // Faults of the key file.

        /// The store exists, so its key file must also exist.
        case lost
        /// The file cannot be read.
        case unreadable(FileError)
        /// The file was not created or replaced.
        case notWritten(FileError)
        /// Other users can change the files in its folder.
        case exposed(FolderExposure)
    }
}

extension SecretBytes {
    /// Derives a 32-byte key for a different purpose.
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

    /// The generator of OpenSSL.
    public static let system = RandomSource(
        bytes: Randomness.bytes, secret: Randomness.secret)

    /// Takes one closure for each kind of random bytes.
    public init(
        bytes: @escaping @Sendable (Int) -> [UInt8],
        secret: @escaping @Sendable (Int) -> SecretBytes
    ) {
        self.bytes = bytes
        self.secret = secret
    }
}

/// One version of the keys outside the database.
public struct KeyVersion: Sendable {
    /// The version's number, which is stored in every row that uses it.
    public let id: KeyID
    /// Distinguishes this key from a key with the same number in a different ring: 16 bytes that
    /// reveal nothing about the key.
    public let fingerprint: [UInt8]
    /// The version's key as stored in the file.
    let secret: SecretBytes
    /// Seals seeds and the hashes of recovery codes.
    ///
    /// Each credential needs only a few boxes, so one key stays far below its limit of 2^32.
    let sealing: SealingKey
    /// Keys the digests of enrolled secrets and recovery codes (NIST SP 800-63B-4, 3.1.1.2).
    let digests: HMACKey
    /// The same key as ``digests``, for dummy codes, which are computed only for the timing.
    let pepper: SecretBytes
    /// Derives the secrets and tickets that a login issues.
    let rotation: SecretBytes
    /// Derives the key of each recorded response.
    private let answers: SecretBytes

    init(_ id: KeyID, _ secret: SecretBytes) throws(VerifierError) {
        guard secret.count == KeyRing.keyCount else { throw .keyRing(.malformed) }
        try KeyRing.requireAlgorithms()
        self.id = id
        self.secret = secret
        pepper = secret.derived("watchword pepper")
        digests = HMACKey(pepper)
        rotation = secret.derived("watchword rotation key")
        answers = secret.derived("watchword answer keys")
        sealing = SealingKey(secret.derived("watchword key-encryption key"))
        fingerprint = secret.derived("watchword key fingerprint").withBytes { bytes in
            (0..<16).map { bytes[$0] }
        }
    }

    /// The key that seals one recorded response.
    ///
    /// A busy server seals more responses than one key may seal.
    func answerKey(_ name: [UInt8]) -> SealingKey {
        let salt: [UInt8] = []
        let derived = hkdfSHA256(
            secret: answers, salt: salt.span, info: name.span, count: KeyRing.keyCount)
        return SealingKey(derived)
    }
}

/// The number of a key version, counted from 1 in order of creation.
public struct KeyID: Hashable, Comparable, Sendable {
    /// The number: 1 to 4,294,967,295.
    public let number: UInt32

    /// Accepts numbers from 1; returns `nil` for 0.
    public init?(_ number: UInt32) {
        guard number > 0 else { return nil }
        self.number = number
    }

    /// Orders versions by their creation.
    public static func < (left: KeyID, right: KeyID) -> Bool { left.number < right.number }
}

extension KeyRing {
    /// The key ring in its file format; the text is secret.
    ///
    ///     watchword-keys 1
    ///     lookup BASE64
    ///     key 1 BASE64
    ///     key 2 BASE64
    ///     current 2
    ///     end BASE64 (SHA-256 of everything before this line, to detect truncation)
    public func text() -> SecretBytes {
        let lines = SecretBytes(capacity: 64 * (versions.count + 3)) { output in
            func append(_ text: String) { for byte in text.utf8 { output.append(byte) } }
            func append(_ secret: SecretBytes) {
                Base64.encode(secret).withBytes {
                    output.append(copying: $0)
                }
            }
            append("watchword-keys 1\nlookup ")
            append(lookupSecret)
            for version in versions {
                append("\nkey \(version.id.number) ")
                append(version.secret)
            }
            append("\ncurrent \(current.id.number)\n")
        }
        let end = Array("end ".utf8) + KeyFileLines.digest(of: lines) + [0x0a]
        return SecretBytes(capacity: lines.count + end.count) { output in
            lines.withBytes { output.append(copying: $0) }
            for byte in end { output.append(byte) }
        }
    }

    /// Parses only text in the exact form of ``text()``.
    ///
    /// - Throws: ``VerifierError/keyRing(_:)``.
    public init(parsing text: SecretBytes) throws(VerifierError) {
        var lines = KeyFileLines(text)
        guard let version = lines.nextNumber(behind: "watchword-keys ") else {
            throw .keyRing(.malformed)
        }
        guard version == 1 else { throw .keyRing(.newer) }
        let lookup = try lines.nextSecret(behind: "lookup ")
        var versions: [KeyVersion] = []
        while let id = lines.nextKeyID(), versions.count < Self.maximumCount {
            versions.append(try KeyVersion(id, try lines.nextSecret(behind: "")))
        }
        guard let number = lines.nextNumber(behind: "current "), let current = KeyID(number)
        else { throw .keyRing(.malformed) }
        try lines.end()
        try self.init(versions: versions, current: current, lookup: lookup)
    }
}

/// A parser for the lines of a key file.
private struct KeyFileLines {
    private let text: SecretBytes
    private var index = 0

    init(_ text: SecretBytes) { self.text = text }

    static func digest(of lines: SecretBytes) -> [UInt8] {
        let digest = lines.withBytes { lines in
            sha256(lines)
        }
        return Base64.encode(digest.span)
    }

    /// Consumes `word` if it comes next.
    private mutating func take(_ word: some Sequence<UInt8>) -> Bool {
        let end = text.withBytes { text -> Int? in
            var end = index
            for byte in word {
                guard end < text.count, text[end] == byte else { return nil }
                end += 1
            }
            return end
        }
        guard let end else { return false }
        index = end
        return true
    }

    /// Consumes a number without a leading zero, and the character `end` after it.
    private mutating func takeNumber(upTo end: UInt8) -> UInt32? {
        let read = text.withBytes { text -> (UInt32, Int)? in
            var value: UInt32 = 0
            var next = index
            while next < text.count, (0x30...0x39).contains(text[next]) {
                let (product, isTooBig) = value.multipliedReportingOverflow(by: 10)
                let (sum, isTooBigNow) = product.addingReportingOverflow(UInt32(text[next] - 0x30))
                guard !isTooBig, !isTooBigNow, next == index || text[index] != 0x30 else {
                    return nil
                }
                value = sum
                next += 1
            }
            guard next > index, next < text.count, text[next] == end else { return nil }
            return (value, next + 1)
        }
        guard let read else { return nil }
        index = read.1
        return read.0
    }

    mutating func nextNumber(behind word: String) -> UInt32? {
        take(word.utf8) ? takeNumber(upTo: 0x0a) : nil
    }

    mutating func nextKeyID() -> KeyID? {
        take("key ".utf8) ? takeNumber(upTo: 0x20).flatMap(KeyID.init) : nil
    }

    mutating func nextSecret(behind word: String) throws(VerifierError) -> SecretBytes {
        let count = Base64.encodedCount(of: KeyRing.keyCount)
        guard take(word.utf8), index + count < text.count else { throw .keyRing(.malformed) }
        let start = index
        index += count
        guard take([0x0a]) else { throw .keyRing(.malformed) }
        return try replacingErrors(
            of: text.withBytes { text throws(CryptographyError) in
                try Base64.decodeSecret(text.extracting(start..<(start + count)))
            }, with: VerifierError.keyRing(.malformed))
    }

    /// Checks that only the last line is left and that its digest is correct.
    mutating func end() throws(VerifierError) {
        let lines = text.withBytes { SecretBytes(copying: $0.extracting(..<index)) }
        let digest = Self.digest(of: lines)
        guard take("end ".utf8), take(digest), take([0x0a]), index == text.count else {
            throw .keyRing(.malformed)
        }
    }
}
