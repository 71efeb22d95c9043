internal import Verification
internal import WatchwordCryptography

/// A response to a registration, and the values that it must match (WebAuthn Level 3, section 7.1).
struct RegistrationCheck {
    let response: RegistrationResponse
    let pending: PendingPasskey
    let relyingParty: RelyingParty
    let now: UnixTime

    enum Verdict {
        /// The passkey to store, with its first signature counter.
        ///
        /// `isWeaklyAttested`: the attestation was not trusted, because its signature uses SHA-1.
        case accepted(RegisteredPasskey, count: UInt32, isWeaklyAttested: Bool)
        case denied(DenialReason)
    }

    /// Decides everything except whether the passkey is already registered.
    func verdict() throws(VerifierError) -> Verdict {
        guard let clientData = response.clientData else { return .denied(.clientData) }
        if let reason = clientData.denial(
            type: "webauthn.create", challenge: pending.challenge, at: relyingParty)
        {
            return .denied(reason)
        }
        guard relyingParty.ids.contains(pending.relyingParty) else { return .denied(.relyingParty) }
        let object: AttestationObject
        do throws(DenialReason) { object = try AttestationObject(response.attestationObject) } catch
        { return .denied(error) }
        let registration = object.registration
        let policy = pending.policy
        let hash = sha256(Array(pending.relyingParty.utf8).span)
        if let reason = registration.data.denial(
            relyingPartyHash: hash,
            requiresUserVerification: policy.userVerification == .required)
        {
            return .denied(reason)
        }
        let flags = PasskeyFlags(registration.data.flags)
        if flags.isBackupEligible, policy.backup == .deviceBound { return .denied(.notDeviceBound) }
        guard relyingParty.algorithms.contains(registration.key.algorithm) else {
            return .denied(.algorithm)
        }
        let attestation: Attested
        switch try self.attestation(of: object, clientData.digest) {
        case .success(let found): attestation = found
        case .failure(let reason): return .denied(reason)
        }
        guard registration.credentialID == response.credentialID else {
            return .denied(.credentialID)
        }
        var passkey = RegisteredPasskey(
            relyingParty: pending.relyingParty, credentialID: registration.credentialID,
            publicKey: registration.encodedKey, model: attestation.model, flags: flags)
        passkey.transports = response.keptTransports
        passkey.attestation = attestation.kind
        if let leaf = attestation.leaf {
            let encoded = leaf.encoded
            passkey.leafDigest = sha256(encoded.span)
        }
        return .accepted(
            passkey, count: registration.data.signatureCount,
            isWeaklyAttested: attestation.isWeak)
    }

    /// The result of verifying an attestation statement.
    private struct Attested {
        var kind: RegisteredPasskey.Attestation
        /// The authenticator's model, which some statements do not sign.
        var model: [UInt8]
        var leaf: Certificate?
        /// Whether the statement is signed with SHA-1.
        var isWeak = false
    }

    /// Verifies the attestation statement, and applies the policy (steps 21 to 24).
    private func attestation(
        of object: AttestationObject, _ clientDataHash: [UInt8]
    ) throws(VerifierError) -> Result<Attested, DenialReason> {
        let outcome = try VerifierError.cryptography(
            in: object.verify(clientDataHash: clientDataHash))
        let verdict: AttestationVerdict
        switch outcome {
        case .denied(let reason): return .failure(reason)
        case .verified(let found): verdict = found
        }
        var found = Attested(kind: .none, model: object.registration.model)
        switch verdict {
        case .none: break
        case .selfAttested: found.kind = .selfAttested
        case .unknownFormat:
            guard pending.policy.attestation == .none else { return .failure(.attestationFormat) }
            found.kind = .unverified
        case .certified(let certificates):
            found.leaf = certificates.chain.first
            found.model = certificates.model
            let isTrusted = try VerifierError.cryptography(
                in: relyingParty.trust.isTrusted(certificates, at: now))
            found.kind = isTrusted ? .trusted : .unverified
        case .weaklyCertified(let certificates):
            guard pending.policy.attestation != .trusted else { return .failure(.attestationWeak) }
            found = Attested(
                kind: .unverified, model: certificates.model, leaf: certificates.chain.first,
                isWeak: true)
        }
        guard pending.policy.attestation != .trusted || found.kind == .trusted else {
            return .failure(.attestationUntrusted)
        }
        return .success(found)
    }
}

extension RegistrationResponse {
    /// The first few transports of ordinary length.
    ///
    /// Transports only help browsers.
    fileprivate var keptTransports: [String] {
        Array(
            transports.filter { $0.utf8.count <= RegisteredPasskey.maximumTransportCount }
                .prefix(RegisteredPasskey.maximumTransports))
    }
}

extension PasskeyFlags {
    init(_ flags: AuthenticatorFlags) {
        self.init(
            isUserVerified: flags.isUserVerified, isBackupEligible: flags.isBackupEligible,
            isBackedUp: flags.isBackedUp)
    }
}
