public import WatchwordCryptography
internal import WatchwordSystem

/// A TPM's attestation of a device key, after the server has verified it.
///
/// After these checks, the TPM must reveal a secret that is protected for ``attestationKeyName``:
/// only this proves that the attestation key is in the same TPM as the endorsement key of the
/// certificate.
public struct VerifiedKeyAttestation: Sendable {
    /// The endorsement key, for which the secret is encrypted.
    public let endorsementKey: EndorsementKey
    /// The Name of the attestation key.
    public let attestationKeyName: [UInt8]

    /// Checks the evidence for the device key with `point`.
    ///
    /// - Parameter transcript: The text that the device key signed at its registration.
    /// - Parameter time: The time for the check of the certificates, in Unix seconds.
    public init(
        _ evidence: KeyAttestation, point: [UInt8], transcript: DeviceKeyTranscript,
        anchors: TrustAnchors, at time: Int64
    ) throws(VerifierError) {
        let areas = try Areas(evidence)
        try Self.checkEndorsement(evidence, areas.endorsement, anchors, time)
        guard areas.attestation.attributes == Self.attestationAttributes,
            areas.attestation.scheme == .ecdsaSHA256,
            case .ellipticCurve(.p256, _) = areas.attestation.publicKey
        else { throw .attestation(.attestationKey) }
        guard Self.deviceAttributes.contains(areas.device.attributes),
            areas.device.scheme == .ecdsaSHA256, areas.device.policy.isEmpty,
            areas.device.publicKey == .ellipticCurve(.p256, point: point)
        else { throw .attestation(.deviceKey) }
        try Self.checkCertification(evidence, areas, transcript)
        endorsementKey = try replacingErrors(
            of: EndorsementKey(areas.endorsement.publicKey),
            with: VerifierError.attestation(.malformed))
        attestationKeyName = areas.attestation.name()
    }

    private struct Areas {
        let endorsement: TPMPublicArea
        let attestation: TPMPublicArea
        let device: TPMPublicArea
        let certified: TPMCertification

        init(_ evidence: KeyAttestation) throws(VerifierError) {
            endorsement = try TPMPublicArea(evidence.endorsementKey)
            attestation = try TPMPublicArea(evidence.attestationKey)
            device = try TPMPublicArea(evidence.deviceKey)
            certified = try TPMCertification(evidence.certification)
        }
    }

    /// A restricted key signs a hash only if the TPM computed it.
    private static let attestationAttributes: TPMAttributes = [
        .fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .restricted, .sign,
    ]
    /// The attributes without and with protection from dictionary attacks.
    private static let deviceAttributes: [TPMAttributes] = [
        [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA, .sign],
        [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .sign],
    ]
    private static let endorsementAttributes: TPMAttributes = [
        .fixedTPM, .fixedParent, .sensitiveDataOrigin, .restricted, .decrypt,
    ]

    private static func checkEndorsement(
        _ evidence: KeyAttestation, _ endorsement: TPMPublicArea, _ anchors: TrustAnchors,
        _ time: Int64
    ) throws(VerifierError) {
        var chain: [Certificate] = []
        for encoded in evidence.certificates {
            chain.append(
                try replacingErrors(
                    of: Certificate(encoded),
                    with: VerifierError.attestation(.endorsementCertificate)))
        }
        // The extended key usage tcg-kp-EKCertificate.
        guard chain[0].extendedKeyUsage.contains("2.23.133.8.1"), !chain[0].isAuthority,
            chain[0].publicKey == endorsement.publicKey,
            endorsement.attributes.isSuperset(of: endorsementAttributes),
            !endorsement.attributes.contains(.sign)
        else { throw .attestation(.endorsementCertificate) }
        let outcome = try VerifierError.cryptography(in: anchors.check(chain, at: time))
        if case .refused(let refusal) = outcome { throw .attestation(.untrusted(refusal)) }
    }

    private static func checkCertification(
        _ evidence: KeyAttestation, _ areas: Areas, _ transcript: DeviceKeyTranscript
    ) throws(VerifierError) {
        let (digest, name) = (sha256(transcript.bytes.span), areas.device.name())
        guard areas.certified.qualifyingData == digest, areas.certified.name == name else {
            throw .attestation(.certification)
        }
        let key = try replacingErrors(
            of: VerificationKey(areas.attestation.publicKey, algorithm: .es256),
            with: VerifierError.attestation(.attestationKey))
        let isSigned = try VerifierError.cryptography(
            in: key.isValid(evidence.signature.span, of: evidence.certification.span))
        guard isSigned else { throw .attestation(.signature) }
    }
}

extension VerifiedKeyAttestation {
    /// Why a TPM's structure, or its attestation of a device key, is refused.
    public enum Fault: Hashable, Sendable {
        /// A structure is malformed, or its algorithms are not supported.
        case malformed
        /// The certificate is not an endorsement certificate, or is for another key.
        case endorsementCertificate
        /// The endorsement certificate does not chain to a trust anchor.
        case untrusted(ChainRefusal)
        /// The attestation key could sign data that the TPM did not generate, or can leave the TPM.
        case attestationKey
        /// The device key can leave the TPM, was not generated in the TPM, or is not the key that
        /// is registered.
        case deviceKey
        /// The TPM certified another key, or the certification was made for a different transcript.
        case certification
        /// The attestation key did not sign the certification.
        case signature
    }
}

/// The endorsement key of a TPM; only this TPM can decrypt with it.
///
/// Its name algorithm must be SHA-256 and its cipher AES with 128 bits, as in the TCG's templates
/// L-1 and L-2; otherwise the TPM reveals nothing.
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

    /// The purposes of a seed.
    private static let label = Array("IDENTITY\0".utf8)
    private static let seedCount = 32

    /// Checks a key.
    ///
    /// - Throws: ``CryptographyError/otherAlgorithm`` if it is neither an RSA key nor on P-256.
    public init(_ publicKey: PublicKey) throws(CryptographyError) {
        switch publicKey {
        case .rsa: kind = .rsa(try EncryptionKey(publicKey))
        case .ellipticCurve: kind = .p256(try AgreementPoint(publicKey))
        case .ed25519: throw .otherAlgorithm
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

    /// The seed that an ephemeral key and an endorsement key agree on; the TPM gets the ephemeral
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
    /// The TPM reveals it with `TPM2_ActivateCredential`, which proves that both keys are in one
    /// TPM.
    public init(
        protecting secret: SecretBytes, for name: [UInt8], endorsementKey: EndorsementKey
    ) throws(CryptographyFailure) {
        let seed = try endorsementKey.makeSeed()
        let activation = KeyActivation(
            blob: try Self.blob(secret, for: name, seed: seed.secret), seed: seed.encrypted)
        guard let activation else { preconditionFailure("a protected secret has few bytes") }
        self = activation
    }

    /// The encrypted blob for a known seed.
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
