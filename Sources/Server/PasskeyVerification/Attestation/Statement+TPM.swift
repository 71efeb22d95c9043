internal import Verification
internal import WatchwordCryptography

/// The format `tpm` (WebAuthn Level 3, section 8.3).
extension Statement {
    func verifyTPM(_ attested: AttestedData) throws -> AttestationVerdict {
        try requireExactly("ver", "alg", "x5c", "sig", "certInfo", "pubArea")
        // Windows uses SHA-1 on many computers.
        let isWeak = members["alg"]?.integer == Self.rs1
        let algorithm = isWeak ? nil : try self.algorithm()
        let (leaf, chain) = try certificates()
        let certInfo = try bytes("certInfo")
        let publicArea = try TPMPublicArea(try bytes("pubArea"))
        let certified = try TPMCertification(certInfo)
        guard members["ver"]?.textString == "2.0",
            publicArea.publicKey == attested.registration.key.publicKey
        else { throw DenialReason.attestation }
        let digest: [UInt8]? =
            if let algorithm {
                algorithm.digest(attested.signedBytes)
            } else {
                sha1(attested.signedBytes.span)
            }
        guard let digest, certified.qualifyingData == digest,
            certified.name == publicArea.name()
        else { throw DenialReason.attestation }
        if let algorithm {
            try requireSignature(by: leaf, algorithm, over: certInfo)
        } else {
            try requireWeakSignature(by: leaf, over: certInfo)
        }
        try requireAIKCertificate(leaf)
        try leaf.requireModel(attested.registration.model)
        let certificates = AttestationCertificates(
            chain: chain, model: attested.registration.model, isKeyInHardware: true)
        return isWeak ? .weaklyCertified(certificates) : .certified(certificates)
    }

    /// RSASSA-PKCS1-v1_5 with SHA-1, in COSE (RFC 8812).
    private static let rs1: Int64 = -65535

    private func requireWeakSignature(
        by leaf: Certificate, over message: [UInt8]
    ) throws {
        let signature = try bytes("sig")
        // Without OpenSSL's help it stays unchecked: the passkey is not trusted in any case.
        let isValid = try key(of: leaf, .rs256).isValidWithSHA1(signature.span, of: message.span)
        guard isValid != false else { throw DenialReason.attestation }
    }

    /// The requirements of section 8.3.1.
    private func requireAIKCertificate(_ leaf: Certificate) throws {
        let names = Set(leaf.alternativeNames.map(\.identifier))
        guard leaf.version == 3, !leaf.hasSubject, !leaf.isAuthority,
            leaf.extension("2.5.29.17")?.isCritical == true,
            // Manufacturer, model and version of the TPM.
            names.isSuperset(of: ["2.23.133.2.1", "2.23.133.2.2", "2.23.133.2.3"]),
            leaf.extendedKeyUsage.contains("2.23.133.8.3")
        else { throw DenialReason.attestation }
    }
}

extension SignatureAlgorithm {
    /// The digest that the algorithm signs; `nil` if it signs messages directly.
    fileprivate func digest(_ bytes: [UInt8]) -> [UInt8]? {
        switch self {
        case .es256, .rs256: sha256(bytes.span)
        case .es384: sha384(bytes.span)
        case .es512: sha512(bytes.span)
        case .ed25519: nil
        }
    }
}
