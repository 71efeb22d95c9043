internal import WatchwordCryptography

/// The format `fido-u2f` (WebAuthn Level 3, section 8.6).
extension Statement {
    func verifyU2F(_ attested: AttestedData) throws(StatementError) -> AttestationVerdict {
        try requireExactly("sig", "x5c")
        let (leaf, chain) = try certificates()
        let registration = attested.registration
        guard chain.count == 1, case .ellipticCurve(.p256, _)? = leaf.publicKey,
            case .ellipticCurve(.p256, let point) = registration.key.publicKey
        else { throw .invalid }
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
