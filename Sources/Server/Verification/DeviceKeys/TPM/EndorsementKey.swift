public import WatchwordCryptography

/// The endorsement key of a TPM, to which only this TPM can decrypt.
///
/// Its name algorithm must be SHA-256 and its cipher AES with 128 bits, as in the TCG's templates L-1
/// and L-2; otherwise the TPM reveals nothing.
public struct EndorsementKey: Sendable {
    private enum Kind {
        case rsa(EncryptionKey)
        case p256(AgreementPoint)
    }

    private let kind: Kind

    /// A seed, from which the keys that protect a secret are derived.
    struct Seed {
        let secret: SecretBytes
        /// The seed, encrypted to the endorsement key: `TPM2B_ENCRYPTED_SECRET` without its length.
        let encrypted: [UInt8]
    }

    /// What the seed is for.
    private static let label = Array("IDENTITY\0".utf8)
    private static let seedCount = 32

    /// Checks a key.
    ///
    /// - Throws: ``PublicKeyError/algorithm`` if it is neither an RSA key nor on P-256.
    public init(_ publicKey: PublicKey) throws(PublicKeyError) {
        switch publicKey {
        case .rsa: kind = .rsa(try EncryptionKey(publicKey))
        case .ellipticCurve: kind = .p256(try AgreementPoint(publicKey))
        case .ed25519: throw .algorithm
        }
    }

    /// Makes a new seed (TPM 2.0 Library, Part 1, sections B.10.4 and C.6.4).
    func makeSeed() throws(CryptographyFailure) -> Seed {
        switch kind {
        case .rsa(let key):
            let seed = Randomness.secret(count: Self.seedCount)
            return Seed(
                secret: seed, encrypted: try key.encrypt(seed, label: Self.label.span))
        case .p256(let key): return try Self.seed(for: key, by: EphemeralKey.make())
        }
    }

    /// The seed that an ephemeral key and an endorsement key agree on: the TPM gets the ephemeral
    /// point (`TPMS_ECC_POINT`).
    static func seed(
        for key: AgreementPoint, by ephemeral: EphemeralKey
    ) throws(CryptographyFailure) -> Seed {
        let count = EllipticCurve.p256.coordinateCount
        func coordinates(of point: [UInt8]) -> (x: ArraySlice<UInt8>, y: ArraySlice<UInt8>) {
            (point[1...count], point[(1 + count)...])
        }
        let (x, y) = coordinates(of: ephemeral.point)
        let information = label + x + coordinates(of: key.point).x
        let length: [UInt8] = [0, UInt8(count)]
        return Seed(
            secret: try sskdfSHA256(
                secret: try ephemeral.agreedSecret(with: key), information: information.span,
                count: seedCount),
            encrypted: length + x + length + y)
    }
}

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
