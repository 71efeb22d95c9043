/// A TPM's attestation of a device key that it has made: its structures, as the device sends them
/// and the server checks them.
public struct KeyAttestation: Hashable, Sendable {
    /// The certificate of the endorsement key, and the issuers' certificates that the TPM has, in
    /// DER.
    public let certificates: [[UInt8]]
    /// The endorsement key: `TPMT_PUBLIC`.
    public let endorsementKey: [UInt8]
    /// The attestation key: `TPMT_PUBLIC`.
    public let attestationKey: [UInt8]
    /// The device key: `TPMT_PUBLIC`.
    public let deviceKey: [UInt8]
    /// The attestation key's statement about the device key: `TPMS_ATTEST`.
    public let certification: [UInt8]
    /// The attestation key's signature over the statement, in DER.
    public let signature: [UInt8]

    /// The maximum number of certificates.
    public static let mostCertificates = TrustAnchors.longestChain
    /// The maximum size of a certificate in bytes.
    public static let largestCertificate = Certificate.longest
    /// The maximum size of any other structure in bytes.
    public static let largestStructure = 1 << 10
    /// The maximum size of a signature in bytes, slightly more than a signature on P-256 needs.
    public static let longestSignature = 96

    /// Combines the structures, whose content is not checked; `nil` if one is missing or too large.
    public init?(
        certificates: [[UInt8]], endorsementKey: [UInt8], attestationKey: [UInt8],
        deviceKey: [UInt8], certification: [UInt8], signature: [UInt8]
    ) {
        guard (1...KeyAttestation.mostCertificates).contains(certificates.count),
            certificates.allSatisfy({
                (1...KeyAttestation.largestCertificate).contains($0.count)
            }),
            [endorsementKey, attestationKey, deviceKey, certification].allSatisfy({
                (1...KeyAttestation.largestStructure).contains($0.count)
            }), (1...KeyAttestation.longestSignature).contains(signature.count)
        else { return nil }
        self.certificates = certificates
        self.endorsementKey = endorsementKey
        self.attestationKey = attestationKey
        self.deviceKey = deviceKey
        self.certification = certification
        self.signature = signature
    }
}

/// A secret that only the TPM with an attested key reveals (`TPM2_ActivateCredential`).
public struct KeyActivation: Hashable, Sendable {
    /// The protected secret: `TPM2B_ID_OBJECT` without its length.
    public let blob: [UInt8]
    /// The seed that protects it, encrypted to the endorsement key: `TPM2B_ENCRYPTED_SECRET`
    /// without its length.
    public let seed: [UInt8]

    /// The maximum size of a blob in bytes: two digests, and the lengths of both.
    public static let largestBlob = 132
    /// The maximum size of a seed in bytes, encrypted to an RSA key of 4,096 bits.
    public static let largestSeed = 512

    /// Combines the parts; `nil` if one is empty or too large.
    public init?(blob: [UInt8], seed: [UInt8]) {
        guard (1...KeyActivation.largestBlob).contains(blob.count),
            (1...KeyActivation.largestSeed).contains(seed.count)
        else { return nil }
        self.blob = blob
        self.seed = seed
    }
}
