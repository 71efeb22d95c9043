public import WatchwordCryptography

extension KeyActivation {
    /// The maximum length of a secret in bytes.
    public static let longestSecret = 32

    /// Protects a secret, at most 32 bytes, so that only the TPM with both the endorsement key and
    /// the key with `name` reveals it (`TPM2_MakeCredential`; TPM 2.0 Library, Part 1, section 24).
    ///
    /// The TPM reveals it with `TPM2_ActivateCredential`, which proves that both keys are in one TPM.
    public init(
        protecting secret: SecretBytes, for name: [UInt8], endorsementKey: EndorsementKey
    ) throws(CryptographyFailure) {
        let seed = try endorsementKey.makeSeed()
        let activation = KeyActivation(
            blob: try Self.blob(secret, for: name, seed: seed.secret), seed: seed.encrypted)
        guard let activation else { preconditionFailure("a protected secret has few bytes") }
        self = activation
    }

    /// The blob for a known seed.
    static func blob(
        _ secret: SecretBytes, for name: [UInt8], seed: SecretBytes
    ) throws(CryptographyFailure) -> [UInt8] {
        precondition(secret.count <= longestSecret, "a secret has at most the length of a digest")
        let none: [UInt8] = []
        let key = try kbkdfSHA256(secret: seed, label: "STORAGE", context: name.span, count: 16)
        let sized = SecretBytes(capacity: 2 + secret.count) { output in
            output.append(0)
            output.append(UInt8(secret.count))
            secret.withBytes { output.append(copying: $0) }
        }
        let box: [UInt8]
        do {
            box = try encryptAESCFB(sized, key: key)
        } catch {
            guard case .failed(let failure) = error else {
                preconditionFailure("the key has 16 bytes")
            }
            throw failure
        }
        let integrityKey = try kbkdfSHA256(
            secret: seed, label: "INTEGRITY", context: none.span, count: 32)
        let covered = box + name
        let tag = HMACKey(integrityKey).authenticationCode(of: covered.span)
        return [0, UInt8(tag.count)] + tag + box
    }
}
