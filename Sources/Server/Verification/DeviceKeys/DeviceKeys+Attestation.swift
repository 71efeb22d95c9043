public import WatchwordCryptography

// Keys in TPMs whose maker the server trusts.
extension DeviceKeys {
    /// Completes the registration of a key that was attested: only the TPM that attested it can
    /// reveal the secret.
    ///
    /// A denial leaves the credential pending.
    public func activate(
        _ id: CredentialID, with secret: SecretBytes, origin: Origin = .unknown,
        recorder: Recorder<DeviceKeyRegistration>? = nil
    ) async throws(VerifierError) -> DeviceKeyRegistration {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            let digest = Self.digest(of: secret)
            let record = try await verifier.record(id)
            guard let record, record.state == .pending, !record.isLapsed(at: context.now),
                case .pendingDeviceKey(let pending) = record.material,
                let activation = pending.activation
            else { return denied(subject: record?.subject, credential: id, .unknown, context) }
            guard isEqualInConstantTime(digest.span, activation.secretDigest.span) else {
                return denied(subject: record.subject, credential: id, .attestation, context)
            }
            let fingerprint = fingerprint(of: activation.key.point, context)
            guard try await verifier.record(fingerprint: fingerprint) == nil else {
                return denied(subject: record.subject, credential: id, .credentialKnown, context)
            }
            let registration = OpenRegistration(
                record: record, pending: pending, ticket: nil, name: nil, origin: record.origin)
            return try await accepted(activation.key, fingerprint, registration, context)
        }
    }

    /// Checks what the TPM says about a key, and spends the ticket if it is valid.
    func attested(
        by evidence: KeyAttestation, _ point: [UInt8], _ transcript: DeviceKeyTranscript,
        _ registration: OpenRegistration, _ context: DecisionContext
    ) throws(VerifierError) -> Decision<DeviceKeyRegistration> {
        let row = registration.ticket
        guard let roots else { return denied(row, .attestationUntrusted, context) }
        let attestation: DeviceKeyAttestation
        do throws(VerifierError) {
            attestation = try DeviceKeyAttestation(
                evidence, point: point, transcript: transcript, anchors: roots,
                at: context.now.seconds)
        } catch {
            guard case .attestation(let fault) = error else { throw error }
            let cause: Event.Reason
            switch fault {
            case .untrusted: return denied(row, .attestationUntrusted, context)
            case .malformed: cause = .attestationObject
            case .endorsementCertificate: cause = .endorsementCertificate
            case .attestationKey: cause = .attestationKey
            case .deviceKey: cause = .keyAttributes
            case .certification: cause = .certification
            case .signature: cause = .attestation
            }
            return denied(row, .attestation, because: cause, context)
        }
        let secret = context.randomSecret(KeyActivation.longestSecret)
        let protected = try deciding { () throws(CryptographyFailure) in
            try KeyActivation(
                protecting: secret, for: attestation.attestationKeyName,
                endorsementKey: attestation.endorsementKey)
        }
        let key = RegisteredDeviceKey(
            point: point, custody: .attestedTPM,
            attestationKeyDigest: sha256(evidence.attestationKey.span),
            endorsementKeyDigest: sha256(evidence.endorsementKey.span))
        var record = registration.record
        // The request that activates the key does not repeat the name and the user agent.
        record.origin = context.origin
        record.name =
            (registration.name ?? record.name).prefix(
                bytes: OneTimePasswordEnrolment.maximumTextCount)
        record.material = .pendingDeviceKey(
            PendingDeviceKey(
                presence: registration.pending.presence, replaces: registration.pending.replaces,
                activation: PendingDeviceKey.Activation(
                    key: key, secretDigest: Self.digest(of: secret))))
        return Decision(
            outcome: .pending(
                record.id, protected, expiresAt: record.lapsesAt ?? context.now),
            changes: registration.spending + [.updateCredential(record.row)])
    }

    private static func digest(of secret: SecretBytes) -> [UInt8] {
        secret.withBytes { bytes in sha256(bytes) }
    }
}
