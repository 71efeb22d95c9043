public import WatchwordCryptography

/// Registers the public keys of devices, and verifies their signatures.
///
/// Each decision is one commit, as for ``Verifier``. Every decision spends the challenge, whatever
/// the result.
public struct DeviceKeys: Sendable {
    let verifier: Verifier
    /// The server addresses that devices use, compared byte for byte.
    let audiences: [String]
    /// The certificates of TPM makers whose attestations are trusted; `nil` if no maker is trusted.
    let roots: TrustAnchors?

    /// The maximum length of a signature in bytes.
    static let maximumSignatureCount = 72

    /// - Parameters:
    ///   - audiences: the server addresses that devices use: `https://host[:port]`, in lower case
    ///     and without a final slash.
    ///   - roots: the certificates of TPM makers whose attestations are trusted.
    public init(_ verifier: Verifier, audiences: [String], trusting roots: TrustAnchors? = nil) {
        self.verifier = verifier
        self.audiences = audiences
        self.roots = roots
    }

    /// The same instance for a client that is limited to these subjects.
    package func limited(to subjects: SubjectPrefix) -> DeviceKeys {
        DeviceKeys(verifier.limited(to: subjects), audiences: audiences, trusting: roots)
    }

    /// Whether the text is a server address as devices sign it: `https://host[:port]` in lower
    /// case, without the standard port, a final slash or a final dot; `http` only for this machine.
    public static func isAudience(_ text: String) -> Bool { WebOrigin.isServer(text) }

    /// Issues a ticket with which a device can register its key once, within ten minutes.
    ///
    /// - Parameter canManage: whether the client may also replace another client's credential.
    public func enrol(
        _ enrolment: DeviceKeyEnrolment, canManage: Bool = false, origin: Origin = .unknown,
        recorder: Recorder<EnrolmentOutcome<DeviceKeyGrant>>? = nil
    ) async throws(VerifierError) -> EnrolmentOutcome<DeviceKeyGrant> {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            let subject = enrolment.subject
            let records = try await verifier.records(of: subject)
            let room = verifier.makingRoom(for: subject, among: records, context)
            guard let room else { return Decision(outcome: .refused(.tooMany), changes: []) }
            guard try await verifier.areClients(enrolment.audience) else {
                return Decision(outcome: .refused(.unknownClient), changes: [])
            }
            let refusal = verifier.refusal(
                replacing: enrolment.replaces, among: records, canManage, context)
            if let refusal {
                return Decision(outcome: .refused(refusal), changes: [])
            }
            var record = verifier.newRecord(
                .key, subject, name: enrolment.name, state: .pending, context)
            record.audience = enrolment.audience.sorted()
            record.material = .pendingDeviceKey(
                PendingDeviceKey(
                    presence: enrolment.presence, replaces: enrolment.replaces, activation: nil))
            let (ticket, row) = verifier.newEnrolmentTicket(for: record, context)
            return Decision(
                outcome: .granted(
                    DeviceKeyGrant(
                        credential: record.id, ticket: ticket, expiresAt: row.expiresAt)),
                changes: room + [
                    .insertCredential(record.row), .insertTicket(row),
                    context.event(.enrolmentStarted, of: record),
                ], secretsOf: record.id)
        }
    }

    /// Registers a device's key with its ticket.
    ///
    /// A denial does not spend the ticket, because only its holder can present it. If the ticket
    /// does not exist, but the key is already active, the outcome is
    /// ``DeviceKeyRegistration/repeated(_:_:)``, so that a device that lost the response to its
    /// registration does not drop the key.
    ///
    /// - Parameters:
    ///   - name: replaces the name given at enrolment; `nil` keeps it.
    public func register(
        _ sent: SentDeviceKey, with ticket: Token, name: String? = nil,
        origin: Origin = .unknown, recorder: Recorder<DeviceKeyRegistration>? = nil
    ) async throws(VerifierError) -> DeviceKeyRegistration {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            let row = try await verifier.ticket(ticket, .enrolment, context)
            guard let row else {
                return try await repeated(sent, ticket, context)
            }
            guard row.expiresAt > context.now,
                let record = try await verifier.record(row.credential), record.state == .pending,
                !record.isLapsed(at: context.now),
                case .pendingDeviceKey(let pending) = record.material, pending.activation == nil
            else { return denied(row, .expired, context) }
            guard let key = Self.key(sent.point) else { return denied(row, .publicKey, context) }
            let transcript = try transcript(of: sent, signedWith: key, ticket)
            guard let transcript else { return denied(row, .signature, context) }
            guard sent.presence.rawValue >= pending.presence.rawValue else {
                return denied(row, .presence, context)
            }
            let fingerprint = fingerprint(of: sent.point, context)
            guard try await verifier.record(fingerprint: fingerprint) == nil else {
                return denied(row, .credentialKnown, context)
            }
            let registration = OpenRegistration(
                record: record, pending: pending, ticket: row, name: name, origin: origin)
            if let evidence = sent.attestation {
                return try attested(by: evidence, sent.point, transcript, registration, context)
            }
            let registered = RegisteredDeviceKey(
                point: sent.point, custody: sent.custody == .vault ? .vault : .tpm,
                attestationKeyDigest: nil, endorsementKeyDigest: nil)
            return try await accepted(registered, fingerprint, registration, context)
        }
    }

    /// A registration whose key has not been accepted yet.
    struct OpenRegistration {
        let record: CredentialRecord
        let pending: PendingDeviceKey
        /// The ticket to be spent; `nil` if it was spent when the key was sent.
        let ticket: TicketRow?
        /// Replaces the credential's name; `nil` keeps the name.
        let name: String?
        /// The origin of the request in which the device sent the key.
        let origin: Origin

        /// The change that spends the ticket.
        var spending: [StoreChange] { ticket.map { [.spendTicket(digest: $0.digest)] } ?? [] }
    }

    /// Makes the credential active.
    func accepted(
        _ registered: RegisteredDeviceKey, _ fingerprint: [UInt8],
        _ registration: OpenRegistration, _ context: DecisionContext
    ) async throws(VerifierError) -> Decision<DeviceKeyRegistration> {
        let pending = registration.pending
        var active = registration.record.confirmed(
            name: registration.name, from: registration.origin, context)
        active.fingerprint = fingerprint
        let place = active.place
        active.material = .deviceKey(
            DeviceKeyState(
                sealing: registered, presence: pending.presence, for: place,
                under: context.keys.current))
        return Decision(
            outcome: .accepted(active.id, registered.custody),
            changes: registration.spending + [
                .updateCredential(active.row), .endAnswers(of: active.id),
                context.event(.enrolled, of: active),
            ] + (try await verifier.replacing(pending.replaces, context)))
    }

    func denied(
        _ row: TicketRow?, _ reason: DenialReason, because cause: Event.Reason? = nil,
        _ context: DecisionContext
    ) -> Decision<DeviceKeyRegistration> {
        denied(
            subject: row?.subject, credential: row?.credential, reason, because: cause, context)
    }

    /// Denies a registration.
    ///
    /// - Parameter cause: a more specific reason, for the enrolling application.
    func denied(
        subject: Subject?, credential: CredentialID?, _ reason: DenialReason,
        because cause: Event.Reason? = nil, _ context: DecisionContext
    ) -> Decision<DeviceKeyRegistration> {
        Decision(outcome: .denied(reason), changes: [], recordsResponse: false).counting(
            context.unwritten(
                .denied, cause ?? reason, subject: subject, credential: credential),
            by: DenialCounter.Sender(strangerAt: context.origin))
    }
}

// The proof of a device that it has the key that it registers.
extension DeviceKeys {
    /// The key with this point; `nil` if the point is not valid.
    static func key(_ point: [UInt8]) -> VerificationKey? {
        guard point.count == RegisteredDeviceKey.pointCount else { return nil }
        do throws(CryptographyError) {
            return try VerificationKey(.ellipticCurve(.p256, point: point), algorithm: .es256)
        } catch { return nil }
    }

    /// The enrolment that the device signed, for one of the server's addresses; `nil` if the
    /// signature is not valid for any of them.
    func transcript(
        of sent: SentDeviceKey, signedWith key: VerificationKey, _ ticket: Token
    ) throws(VerifierError) -> DeviceKeyTranscript? {
        guard sent.signature.count <= Self.maximumSignatureCount else { return nil }
        for audience in audiences {
            guard let scope = DeviceKeyTranscript.Scope(audience: audience, presence: sent.presence)
            else { continue }
            let transcript = DeviceKeyTranscript.enrolment(
                scope, ticket: ticket.text, point: sent.point)
            let isSigned = try VerifierError.cryptography(
                in: key.isValid(sent.signature.span, of: transcript.bytes.span))
            if isSigned { return transcript }
        }
        return nil
    }

    /// The fingerprint under which a key's credential is found.
    func fingerprint(
        of point: [UInt8], _ context: DecisionContext
    ) -> [UInt8] {
        context.keys.lookup.fingerprint(ofDeviceKey: point)
    }

    /// The decision on a registration whose ticket does not exist, or no longer exists.
    ///
    /// Only a device that signed with an active key learns of its credential. Anyone else,
    /// including the holder of a revoked key, learns only that the ticket is unknown.
    func repeated(
        _ sent: SentDeviceKey, _ ticket: Token, _ context: DecisionContext
    ) async throws(VerifierError) -> Decision<DeviceKeyRegistration> {
        let unknown = denied(nil, .unknown, context)
        guard let key = Self.key(sent.point),
            try transcript(of: sent, signedWith: key, ticket) != nil
        else { return unknown }
        let fingerprint = fingerprint(of: sent.point, context)
        guard let record = try await verifier.record(fingerprint: fingerprint),
            record.state == .active, case .deviceKey(let state) = record.material
        else { return unknown }
        let registered = try state.open(for: record.place, under: context.key(record.keyID))
        guard registered.point == sent.point else { throw .damagedRow }
        // The response is not recorded, because the credential may be revoked at any time.
        return Decision(
            outcome: .repeated(record.id, registered.custody), changes: [],
            recordsResponse: false)
    }
}

// Keys in TPMs of trusted makers.
extension DeviceKeys {
    /// Completes the registration of an attested key: only the TPM that attested the key can reveal
    /// the secret.
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

    /// Verifies the attestation of a key, and spends the ticket if the attestation is valid.
    func attested(
        by evidence: KeyAttestation, _ point: [UInt8], _ transcript: DeviceKeyTranscript,
        _ registration: OpenRegistration, _ context: DecisionContext
    ) throws(VerifierError) -> Decision<DeviceKeyRegistration> {
        let row = registration.ticket
        guard let roots else { return denied(row, .attestationUntrusted, context) }
        let attestation: VerifiedKeyAttestation
        do throws(VerifierError) {
            attestation = try VerifiedKeyAttestation(
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
        let protected = try VerifierError.cryptography(
            in: KeyActivation(
                protecting: secret, for: attestation.attestationKeyName,
                endorsementKey: attestation.endorsementKey))
        let key = RegisteredDeviceKey(
            point: point, custody: .attestedTPM,
            attestationKeyDigest: sha256(evidence.attestationKey.span),
            endorsementKeyDigest: sha256(evidence.endorsementKey.span))
        var record = registration.record
        // The request that activates the key contains neither the name nor the user agent.
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
