/// What a TPM says about a key that it has made, so that a server can check it.
public struct TPMAttestation: Hashable, Sendable {
    /// The certificate of the endorsement key, in DER.
    public let certificate: [UInt8]
    /// The endorsement key: `TPMT_PUBLIC`.
    public let endorsementKey: [UInt8]
    /// The attestation key: `TPMT_PUBLIC`.
    public let attestationKey: [UInt8]
    /// The attestation key's statement about the key: `TPMS_ATTEST`.
    public let certification: [UInt8]
    /// The attestation key's signature, in DER.
    public let signature: [UInt8]

    /// The maximum size of a certificate in bytes.
    public static let largestCertificate = 2_048
    /// The maximum size of a structure in bytes.
    public static let largestArea = 512

    /// Combines the parts; `nil` if one is empty or too large.
    public init?(
        certificate: [UInt8], endorsementKey: [UInt8], attestationKey: [UInt8],
        certification: [UInt8], signature: [UInt8]
    ) {
        guard (1...TPMAttestation.largestCertificate).contains(certificate.count),
            (1...TPMKey.longestSignature).contains(signature.count),
            [endorsementKey, attestationKey, certification].allSatisfy({
                (1...TPMAttestation.largestArea).contains($0.count)
            })
        else { return nil }
        self.certificate = certificate
        self.endorsementKey = endorsementKey
        self.attestationKey = attestationKey
        self.certification = certification
        self.signature = signature
    }
}

/// A secret that only one TPM reveals (`TPM2_ActivateCredential`).
public struct TPMActivation: Hashable, Sendable {
    /// `TPM2B_ID_OBJECT` without its length.
    public let blob: [UInt8]
    /// `TPM2B_ENCRYPTED_SECRET` without its length.
    public let seed: [UInt8]

    /// The maximum size of a blob in bytes: two digests, and the lengths of both.
    package static let largestBlob = 132
    /// The maximum size of a seed in bytes, encrypted to an RSA key of 4,096 bits.
    package static let largestSeed = 512

    /// Combines the parts; `nil` if one is empty or too large.
    public init?(blob: [UInt8], seed: [UInt8]) {
        guard (1...TPMActivation.largestBlob).contains(blob.count),
            (1...TPMActivation.largestSeed).contains(seed.count)
        else { return nil }
        self.blob = blob
        self.seed = seed
    }
}
