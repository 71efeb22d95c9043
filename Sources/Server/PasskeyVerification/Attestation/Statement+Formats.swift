internal import Verification
internal import WatchwordCryptography

/// The format `packed` (WebAuthn Level 3, section 8.2).
extension Statement {
    func verifyPacked(_ attested: AttestedData) throws -> AttestationVerdict {
        guard members["x5c"] != nil else { return try verifySelfAttestation(attested) }
        try requireExactly("alg", "sig", "x5c")
        let (leaf, chain) = try certificates()
        try requireSignature(by: leaf, try algorithm(), over: attested.signedBytes)
        try requirePackedCertificate(leaf)
        try leaf.requireModel(attested.registration.model)
        return .certified(
            AttestationCertificates(
                chain: chain, model: attested.registration.model, isKeyInHardware: true))
    }

    private func verifySelfAttestation(
        _ attested: AttestedData
    ) throws -> AttestationVerdict {
        try requireExactly("alg", "sig")
        let key = attested.registration.key
        guard try algorithm() == key.algorithm else { throw DenialReason.attestation }
        try requireSignature(by: key, over: attested.signedBytes)
        return .selfAttested
    }

    /// The requirements of section 8.2.1.
    private func requirePackedCertificate(_ leaf: Certificate) throws {
        let country = leaf.subjectValues("2.5.4.6")
        guard leaf.version == 3, !leaf.isAuthority,
            country.count == 1, country[0].utf8.count == 2,
            hasValue(leaf.subjectValues("2.5.4.10")), hasValue(leaf.subjectValues("2.5.4.3")),
            leaf.subjectValues("2.5.4.11") == ["Authenticator Attestation"]
        else { throw DenialReason.attestation }
    }

    private func hasValue(_ values: [String]) -> Bool { values.contains { !$0.isEmpty } }
}

/// The format `fido-u2f` (WebAuthn Level 3, section 8.6).
extension Statement {
    func verifyU2F(_ attested: AttestedData) throws -> AttestationVerdict {
        try requireExactly("sig", "x5c")
        let (leaf, chain) = try certificates()
        let registration = attested.registration
        guard chain.count == 1, case .ellipticCurve(.p256, _)? = leaf.publicKey,
            case .ellipticCurve(.p256, let point) = registration.key.publicKey
        else { throw DenialReason.attestation }
        let message =
            [0] + registration.data.relyingPartyHash + attested.clientDataHash
            + registration.credentialID + point
        try requireSignature(by: leaf, .es256, over: message)
        // The signature does not cover the AAGUID.
        return .certified(
            AttestationCertificates(
                chain: chain, model: [UInt8](repeating: 0, count: 16), isKeyInHardware: true))
    }
}

/// The format `apple` (WebAuthn Level 3, section 8.8).
extension Statement {
    func verifyApple(_ attested: AttestedData) throws -> AttestationVerdict {
        // Until 2021, Apple's devices also stated the algorithm of the credential's key.
        if members["alg"] == nil {
            try requireExactly("x5c")
        } else {
            try requireExactly("alg", "x5c")
            guard try algorithm() == attested.registration.key.algorithm else {
                throw DenialReason.attestation
            }
        }
        let (leaf, chain) = try certificates()
        guard leaf.publicKey == attested.registration.key.publicKey,
            let found = leaf.extension("1.2.840.113635.100.8.2"),
            try appleNonce(found.value) == sha256(attested.signedBytes.span)
        else { throw DenialReason.attestation }
        return .certified(
            AttestationCertificates(
                chain: chain, model: attested.registration.model, isKeyInHardware: true))
    }

    /// The octet string in `SEQUENCE { [1] OCTET STRING }`.
    private func appleNonce(_ encoded: [UInt8]) throws -> [UInt8] {
        let sequence = try DERElement.readOne(encoded)
        let members = try sequence.children()
        guard sequence.tag == .sequence, members.count == 1, members[0].tag == .context(1)
        else { throw DenialReason.attestation }
        let inner = try members[0].children()
        guard inner.count == 1, inner[0].tag == .octetString, !inner[0].isConstructed else {
            throw DenialReason.attestation
        }
        return inner[0].content
    }
}
