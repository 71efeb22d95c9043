internal import WatchwordCryptography

/// One version of the keys outside the database.
public struct KeyVersion: Sendable {
    /// The version's number, which is stored in every row that uses it.
    public let id: KeyID
    /// Distinguishes this key from a key with the same number in another ring: 16 bytes that reveal
    /// nothing about the key.
    public let fingerprint: [UInt8]
    /// The version's key as stored in the file.
    let secret: SecretBytes
    /// Seals seeds and the hashes of recovery codes.
    ///
    /// Each credential needs only a few boxes, so one key stays far below its limit of 2^32.
    let sealing: SealingKey
    /// Keys the digests of enrolled secrets and recovery codes (NIST SP 800-63B-4, 3.1.1.2).
    let digests: HMACKey
    /// The same key, for dummy codes, which are computed only to take the same time.
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
        let sealing = secret.derived("watchword key-encryption key")
        fingerprint = secret.derived("watchword key fingerprint").withBytes { bytes in
            (0..<16).map { bytes[$0] }
        }
        do throws(CryptographyError) {
            self.sealing = try SealingKey(sealing)
        } catch { throw .keyRing(.malformed) }  // HKDF returns the requested number of bytes.
    }

    /// The key that seals one recorded response.
    ///
    /// A busy server seals more responses than one key may seal.
    func answerKey(_ name: [UInt8]) throws(VerifierError) -> SealingKey {
        let salt: [UInt8] = []
        let derived = hkdfSHA256(
            secret: answers, salt: salt.span, info: name.span, count: KeyRing.keyCount)
        do throws(CryptographyError) {
            return try SealingKey(derived)
        } catch { throw VerifierError(error) }
    }
}

/// The number of a key version, counted from 1 in order of creation.
public struct KeyID: Hashable, Comparable, Sendable {
    /// 1 to 4,294,967,295.
    public let number: UInt32

    /// Accepts numbers from 1; returns `nil` for 0.
    public init?(_ number: UInt32) {
        guard number > 0 else { return nil }
        self.number = number
    }

    /// Compares by creation order.
    public static func < (left: KeyID, right: KeyID) -> Bool { left.number < right.number }
}
