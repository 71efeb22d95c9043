public import WatchwordCryptography

/// What a TPM says about a device key, after the server has checked it.
///
/// After these checks, the TPM must reveal a secret that is protected for ``attestationKeyName``: only
/// this proves that the attestation key is in the TPM of the endorsement certificate.
public struct DeviceKeyAttestation: Sendable {
    /// The endorsement key, to which the secret is encrypted.
    public let endorsementKey: EndorsementKey
    /// The Name of the attestation key.
    public let attestationKeyName: [UInt8]

    /// Checks the evidence for the device key with `point`.
    ///
    /// - Parameter transcript: What the device key signed at its registration.
    /// - Parameter time: Unix seconds.
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
        do {
            endorsementKey = try EndorsementKey(areas.endorsement.publicKey)
        } catch {
            throw .attestation(.malformed)
        }
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
    /// Without and with protection from dictionary attacks.
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
            do { chain.append(try Certificate(encoded)) } catch {
                throw .attestation(.endorsementCertificate)
            }
        }
        // tcg-kp-EKCertificate.
        guard chain[0].extendedKeyUsage.contains("2.23.133.8.1"), !chain[0].isAuthority,
            chain[0].publicKey == endorsement.publicKey,
            endorsement.attributes.isSuperset(of: endorsementAttributes),
            !endorsement.attributes.contains(.sign)
        else { throw .attestation(.endorsementCertificate) }
        let outcome: ChainOutcome
        do { outcome = try anchors.check(chain, at: time) } catch { throw .cryptography(error) }
        if case .refused(let refusal) = outcome { throw .attestation(.untrusted(refusal)) }
    }

    private static func checkCertification(
        _ evidence: KeyAttestation, _ areas: Areas, _ transcript: DeviceKeyTranscript
    ) throws(VerifierError) {
        let (digest, name) = (sha256(transcript.bytes.span), areas.device.name())
        guard areas.certified.qualifyingData == digest, areas.certified.name == name else {
            throw .attestation(.certification)
        }
        let key: VerificationKey
        do {
            key = try VerificationKey(areas.attestation.publicKey, algorithm: .es256)
        } catch {
            throw .attestation(.attestationKey)
        }
        let isSigned: Bool
        do {
            isSigned = try key.isValid(evidence.signature.span, of: evidence.certification.span)
        } catch {
            throw .cryptography(error)
        }
        guard isSigned else { throw .attestation(.signature) }
    }
}

extension DeviceKeyAttestation {
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
        /// The device key can leave the TPM, was not made in it, or is not the one that is registered.
        case deviceKey
        /// The TPM certified another key, or the certification was made for another transcript.
        case certification
        /// The attestation key did not sign the certification.
        case signature
    }
}
