internal import Attestation
internal import WatchwordCryptography

/// A response to an authentication, and what it has to match: WebAuthn Level 3, section 7.2.
struct AssertionCheck {
    let response: AssertionResponse
    /// The challenge's random bytes, relying party and policy.
    let challenge: (bytes: [UInt8], relyingParty: String, policy: PasskeyPolicy)
    let relyingParty: RelyingParty
    let meter: WorkMeter?
    /// The key, in COSE, with which the signature of an unknown passkey is checked.
    let dummyKey: [UInt8]

    /// A response whose signature is valid.
    struct Signed {
        let flags: PasskeyFlags
        let count: UInt32
    }

    /// Checks everything but what depends on the passkey's state.
    ///
    /// - Parameter publicKey: the passkey's key in COSE; `nil` if there is no such passkey. A
    ///   signature is then checked with a dummy key, so that the timing is the same.
    func verdict(
        by publicKey: [UInt8]?
    ) throws(VerifierError) -> Result<Signed, DenialReason> {
        guard let clientData = response.clientData else { return .failure(.clientData) }
        if let reason = clientData.denial(
            type: "webauthn.get", challenge: challenge.bytes, at: relyingParty)
        {
            return .failure(reason)
        }
        guard relyingParty.ids.contains(challenge.relyingParty) else {
            return .failure(.relyingParty)
        }
        let data: AuthenticatorData
        do throws(DenialReason) {
            data = try AuthenticatorData(assertion: response.authenticatorData)
        } catch { return .failure(error) }
        let hash = sha256(Array(challenge.relyingParty.utf8).span)
        if let reason = data.denial(
            relyingPartyHash: hash,
            requiresUserVerification: challenge.policy.userVerification == .required)
        {
            return .failure(reason)
        }
        let key = try Self.key(publicKey ?? dummyKey)
        meter?.count(.signatures)
        let isSigned = try deciding { () throws(CryptographyFailure) in
            try data.isSigned(response.signature, by: key, clientDataHash: clientData.digest)
        }
        guard isSigned, publicKey != nil else { return .failure(.signature) }
        return .success(Signed(flags: PasskeyFlags(data.flags), count: data.signatureCount))
    }

    /// The key, with the algorithm that was stored with it; it was checked at the registration.
    private static func key(_ stored: [UInt8]) throws(VerifierError) -> VerificationKey {
        do throws(DenialReason) {
            return try COSEKey.read(alreadyChecked: stored)
        } catch { throw .damagedRow }
    }

    /// The base point of P-256, whose private key is 1: no signature by it is ever accepted.
    static let nobodysPoint: [UInt8] = [
        0x04,
        0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40,
        0xf2,
        0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2,
        0x96,
        0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e,
        0x16,
        0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51,
        0xf5,
    ]

    /// The same key in COSE.
    static let nobody: [UInt8] =
        [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + nobodysPoint[1..<33]
        + [0x22, 0x58, 0x20] + nobodysPoint[33...]
}
