internal import WatchwordCryptography

/// The format `apple` (WebAuthn Level 3, section 8.8).
extension Statement {
    func verifyApple(_ attested: AttestedData) throws(StatementError) -> AttestationVerdict {
        // Until 2021, Apple's devices also stated the algorithm of the credential's key.
        if members["alg"] == nil {
            try requireExactly("x5c")
        } else {
            try requireExactly("alg", "x5c")
            guard try algorithm() == attested.registration.key.algorithm else { throw .invalid }
        }
        let (leaf, chain) = try certificates()
        guard leaf.publicKey == attested.registration.key.publicKey,
            let found = leaf.extension("1.2.840.113635.100.8.2"),
            let nonce = appleNonce(found.value), nonce == digest(attested.signedBytes)
        else { throw .invalid }
        return .certified(
            AttestationCertificates(
                chain: chain, model: attested.registration.model, isKeyInHardware: true))
    }

    /// The octet string in `SEQUENCE { [1] OCTET STRING }`.
    private func appleNonce(_ encoded: [UInt8]) -> [UInt8]? {
        do {
            let sequence = try DERElement.readOne(encoded)
            let members = try sequence.children()
            guard sequence.tag == .sequence, members.count == 1, members[0].tag == .context(1)
            else { return nil }
            let inner = try members[0].children()
            guard inner.count == 1, inner[0].tag == .octetString, !inner[0].isConstructed else {
                return nil
            }
            return inner[0].content
        } catch {
            return nil
        }
    }
}
