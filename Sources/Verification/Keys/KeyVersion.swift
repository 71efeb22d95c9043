internal import Cryptography

/// One version of the keys outside the database.
public struct KeyVersion: Sendable {
    /// Its number, which every row names that hangs on it.
    public let id: KeyID
    /// Tells this key from another one that was given the same number elsewhere: 16 bytes, from which
    /// nothing of the key can be learnt.
    public let fingerprint: [UInt8]
    /// The version as the file has it.
    let secret: SecretBytes
    /// Seals seeds and the hashes of recovery codes: a few boxes in each credential's life, far from
    /// the 2^32 that one key may seal.
    let sealing: SealingKey
    /// Keys the digests of enrolled secrets and recovery codes (NIST SP 800-63B-4, 3.1.1.2).
    let digests: HMACKey
    /// The same key, for codes that are computed for their time alone.
    let pepper: SecretBytes
    /// Derives what a rotation hands out.
    let rotation: SecretBytes
    /// Derives the key of each answer that is kept.
    private let answers: SecretBytes

    init(_ id: KeyID, _ secret: SecretBytes) throws(KeyRingError) {
        guard secret.count == KeyRing.keyCount else { throw .malformed }
        self.id = id
        self.secret = secret
        let sealing: SecretBytes
        do throws(CryptographyFailure) {
            pepper = try secret.derived("watchword pepper")
            digests = HMACKey(pepper)
            rotation = try secret.derived("watchword rotation key")
            answers = try secret.derived("watchword answer keys")
            sealing = try secret.derived("watchword key-encryption key")
            fingerprint = try secret.derived("watchword key fingerprint").withBytes { bytes in
                (0..<16).map { bytes[$0] }
            }
        } catch { throw .failed(error) }
        do throws(SealedBoxError) {
            self.sealing = try SealingKey(sealing)
        } catch { throw .malformed }  // HKDF gives as many bytes as it was asked for.
    }

    /// A key that seals one answer: a busy server makes more of them than one key may seal.
    func answerKey(_ name: [UInt8]) throws(VerifierError) -> SealingKey {
        let salt: [UInt8] = []
        let derived = try deciding { () throws(CryptographyFailure) in
            try hkdfSHA256(
                secret: answers, salt: salt.span, info: name.span, count: KeyRing.keyCount)
        }
        do throws(SealedBoxError) {
            return try SealingKey(derived)
        } catch { throw VerifierError(error) }
    }
}
