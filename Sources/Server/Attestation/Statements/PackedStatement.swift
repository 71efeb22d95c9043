internal import WatchwordCryptography

/// The format `packed` (WebAuthn Level 3, section 8.2).
extension Statement {
    func verifyPacked(_ attested: AttestedData) throws(StatementError) -> AttestationVerdict {
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
    ) throws(StatementError) -> AttestationVerdict {
        try requireExactly("alg", "sig")
        let key = attested.registration.key
        guard try algorithm() == key.algorithm else { throw .invalid }
        try requireSignature(by: key, over: attested.signedBytes)
        return .selfAttested
    }

    /// The requirements of section 8.2.1.
    private func requirePackedCertificate(_ leaf: Certificate) throws(StatementError) {
        let country = leaf.subjectValues("2.5.4.6")
        guard leaf.version == 3, !leaf.isAuthority,
            country.count == 1, country[0].utf8.count == 2,
            hasValue(leaf.subjectValues("2.5.4.10")), hasValue(leaf.subjectValues("2.5.4.3")),
            leaf.subjectValues("2.5.4.11") == ["Authenticator Attestation"]
        else { throw .invalid }
    }

    private func hasValue(_ values: [String]) -> Bool { values.contains { !$0.isEmpty } }
}
