internal import WatchwordCryptography
internal import WatchwordSystem

extension DeviceKeys {
    /// Makes a challenge with which a device signs in.
    ///
    /// An unknown credential also gets a challenge, so that the response reveals nothing.
    public func challenge(
        for credential: CredentialID, origin: Origin = .unknown,
        recorder: Recorder<DeviceKeyChallenge>? = nil
    ) async throws(VerifierError) -> DeviceKeyChallenge {
        try await begin(.signIn, for: credential, origin, recorder)
    }

    /// Makes a challenge with which a device confirms displayed text.
    public func challenge(
        for credential: CredentialID, confirming text: String, origin: Origin = .unknown,
        recorder: Recorder<DeviceKeyChallenge>? = nil
    ) async throws(VerifierError) -> DeviceKeyChallenge {
        let digest = sha256(Array(text.utf8).span)
        return try await begin(.confirmation(textDigest: digest), for: credential, origin, recorder)
    }

    private func begin(
        _ content: Challenge.Content, for credential: CredentialID, _ origin: Origin,
        _ recorder: Recorder<DeviceKeyChallenge>?
    ) async throws(VerifierError) -> DeviceKeyChallenge {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            // The credentials of other subjects cannot use the challenge of a limited client.
            var addressee = credential
            if verifier.isLimited, try await verifier.record(credential) == nil {
                addressee = .anywhere()
            }
            let (token, challenge) = verifier.newChallenge(
                .deviceChallenge, content, for: ChallengeAddressee(credential: addressee),
                context)
            return Decision(
                outcome: DeviceKeyChallenge(token: token, expiresAt: challenge.expiresAt),
                changes: [.insertChallenge(challenge.row)])
        }
    }

    /// Verifies a device's signature, and spends the challenge.
    public func verify(
        _ sent: DeviceKeySignature, origin: Origin = .unknown,
        recorder: Recorder<DeviceKeyOutcome>? = nil
    ) async throws(VerifierError) -> DeviceKeyOutcome {
        try await verifier.decide(origin, recorder: recorder, answeringUntil: .end) {
            context throws(VerifierError) in
            let (finding, record) = try await verifier.challenge(
                sent.challenge, for: sent.purpose.stored, by: nil,
                answeredBy: .id(sent.credential), context)
            var known: (record: CredentialRecord, state: DeviceKeyState)?
            if let record, case .deviceKey(let state) = record.material {
                known = (record, state)
            }
            let challenge: Challenge
            switch finding {
            case .unknown: return denied(nil, known?.record, .challenge, context)
            case .expired(let old): return denied(old, known?.record, .expired, context)
            case .open(let found): challenge = found
            }
            guard challenge.credential == sent.credential else {
                return denied(challenge, known?.record, .challenge, context)
            }
            guard audiences.contains(where: { $0.utf8.elementsEqual(sent.audience.utf8) }) else {
                return denied(challenge, known?.record, .audience, context)
            }
            // For the same timing, the signature of an unknown credential is also checked.
            let point = try known.map { known throws(VerifierError) in
                context.meter?.count(.openings)
                return try known.state.open(
                    for: known.record.place, under: context.key(known.record.keyID)
                ).point
            }
            if known == nil { try context.keys.dummyPublicKeys.openDeviceKey(context.meter) }
            guard try isSigned(sent, challenge, by: point), let known else {
                return denied(challenge, known?.record, .signature, context)
            }
            guard known.record.state == .active else {
                return denied(
                    challenge, known.record, .revoked, context,
                    wipe: WipeReason(known.record.endReason))
            }
            guard sent.presence.rawValue >= known.state.presence.rawValue else {
                return denied(challenge, known.record, .presence, context)
            }
            guard !known.state.spent.contain(challenge, at: context.now) else {
                return denied(challenge, known.record, .challenge, context)
            }
            return accepted(sent, challenge, known.record, known.state, context)
        }
    }

    private func isSigned(
        _ sent: DeviceKeySignature, _ challenge: Challenge, by point: [UInt8]?
    ) throws(VerifierError) -> Bool {
        let bytes = sent.challenge.bytes.withBytes { [UInt8](copying: $0) }
        guard sent.signature.count <= Self.maximumSignatureCount,
            let scope = DeviceKeyTranscript.Scope(
                audience: sent.audience, presence: sent.presence),
            let signed = DeviceKeyTranscript.Challenge(
                bytes, expiry: UInt64(clamping: challenge.expiresAt.milliseconds))
        else { return false }
        let key = try replacingErrors(
            of: VerificationKey(
                alreadyChecked: .ellipticCurve(.p256, point: point ?? DummyPublicKeys.nobodysPoint),
                algorithm: .es256), with: VerifierError.damagedRow)
        let credential = sent.credential.text
        let transcript =
            switch challenge.content {
            case .confirmation(let digest):
                DeviceKeyTranscript.confirmation(
                    scope, credential: credential, challenge: signed, textDigest: digest)
            case .signIn, .assertion:
                DeviceKeyTranscript.signIn(scope, credential: credential, challenge: signed)
            }
        verifier.meter?.count(.signatures)
        let isSigned = try VerifierError.cryptography(
            in: key.isValid(sent.signature.span, of: transcript.bytes.span))
        return isSigned && point != nil
    }

    private func accepted(
        _ sent: DeviceKeySignature, _ challenge: Challenge, _ record: CredentialRecord,
        _ state: DeviceKeyState, _ context: DecisionContext
    ) -> Decision<DeviceKeyOutcome> {
        var (record, state) = (record, state)
        var textDigest: [UInt8]?
        if case .confirmation(let digest) = challenge.content { textDigest = digest }
        state.openUses.open(
            DeviceKeyUse(
                verification: context.verification, purpose: sent.purpose,
                textDigest: textDigest, presence: sent.presence))
        state.spent.add(challenge, at: context.now)
        record.material = .deviceKey(state)
        record.lastUsedAt = context.now
        let (login, ticket) = verifier.newLoginTicket(for: record, context)
        return Decision(
            outcome: DeviceKeyOutcome(
                verification: context.verification,
                result: .accepted(login: login.token, expiresAt: login.expiresAt)),
            changes: [
                .spendChallenge(digest: challenge.digest), .updateCredential(record.row),
                .insertTicket(ticket), context.event(.accepted, of: record),
            ], secretsOf: record.id)
    }

    /// The sender to which a denial is attributed.
    ///
    /// The holder of a revoked key must learn of the revocation, even if many strangers share the
    /// address. The holder's denials are therefore counted separately.
    private func sender(
        of revoked: CredentialRecord?, _ context: DecisionContext
    ) -> DenialCounter.Sender? {
        guard let stranger = DenialCounter.Sender(strangerAt: context.origin) else { return nil }
        return revoked.map { .holder($0.id) } ?? stranger
    }

    /// Denies a signature, and spends its challenge if there is one.
    private func denied(
        _ challenge: Challenge?, _ record: CredentialRecord?, _ reason: DenialReason,
        _ context: DecisionContext, wipe: WipeReason? = nil
    ) -> Decision<DeviceKeyOutcome> {
        var changes: [StoreChange] = [.writeDummy(context.dummy())]
        if let challenge { changes.append(.spendChallenge(digest: challenge.digest)) }
        let outcome = DeviceKeyOutcome(
            verification: context.verification, result: .denied(reason, wipe: wipe))
        func event(_ kind: Event.Kind) -> Event {
            context.unwritten(
                kind, reason, subject: record?.subject, credential: record?.id)
        }
        return Decision(outcome: outcome, changes: changes, recordsResponse: false).counting(
            event(.denied), wipe == nil ? [] : [event(.wiped)],
            by: sender(of: wipe == nil ? nil : record, context))
    }
}

extension DeviceKeyPurpose {
    fileprivate var stored: ChallengeRow.Purpose {
        switch self {
        case .signIn: .signIn
        case .confirm: .confirm
        }
    }
}
