public import Verification
internal import WatchwordCryptography

/// A request for a ceremony in which a passkey signs in.
public struct CeremonyRequest: Sendable {
    let subject: Subject?
    let relyingPartyID: String?
    let policy: PasskeyPolicy
    let isConditional: Bool
    let client: ClientID?

    /// Sets the subject, the policy and the client of the ceremony.
    ///
    /// - Parameters:
    ///   - subject: the owner of the passkey that must sign; `nil` if the passkey identifies the
    ///     subject. An unknown subject always gets the same options, which look like those of a
    ///     known subject.
    ///   - relyingPartyID: one of the relying party's IDs, which is the page's host or a parent
    ///     domain of the host; `nil` for the first ID.
    ///   - isConditional: whether the page waits until somebody signs in (conditional mediation).
    ///   - client: the only client that may finish the ceremony; `nil` for a browser.
    public init(
        for subject: Subject?, at relyingPartyID: String? = nil,
        policy: PasskeyPolicy = .standard, isConditional: Bool = false, by client: ClientID? = nil
    ) {
        self.subject = subject
        self.relyingPartyID = relyingPartyID
        self.policy = policy
        self.isConditional = isConditional
        self.client = client
    }
}

extension Passkeys {
    /// Begins a ceremony in which a passkey signs in.
    public func beginAuthentication(
        _ request: CeremonyRequest, origin: Origin = .unknown,
        recorder: Recorder<PasskeyCeremony>? = nil
    ) async throws(VerifierError) -> PasskeyCeremony {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            let (subject, policy) = (request.subject, request.policy)
            let lifetime =
                request.isConditional
                ? Challenge.conditionalLifetime : Challenge.lifetime
            let id = relyingParty.checkedID(request.relyingPartyID)
            let bytes = context.randomBytes(Challenge.byteCount)
            let (token, challenge) = try verifier.newChallenge(
                .ceremony, .assertion(bytes: bytes, relyingParty: id, policy: policy),
                for: ChallengeAddressee(subject: subject, client: request.client),
                lifetime: lifetime, context)
            let options = RequestOptions(
                relyingPartyID: id, challenge: bytes,
                allowed: try await allowed(for: subject, at: id, context),
                userVerification: policy.userVerification, timeout: lifetime - Self.grace)
            return Decision(
                outcome: PasskeyCeremony(
                    token: token, options: options, expiresAt: challenge.expiresAt),
                changes: [.insertChallenge(challenge.row)])
        }
    }

    /// The passkeys of a subject; for a subject without passkeys, a dummy that is always the same.
    private func allowed(
        for subject: Subject?, at id: String, _ context: DecisionContext
    ) async throws(VerifierError) -> [PasskeyDescriptor] {
        guard let subject else { return [] }
        let found = try descriptors(of: try await verifier.records(of: subject), at: id, context)
        let made = context.keys.lookup.madeUpPasskey(of: subject, for: id)
        return found.isEmpty ? [made] : found
    }
}

/// A passkey's signature that a browser sends to finish a ceremony.
public struct SentAssertion: Sendable {
    let ceremony: Token
    let response: AssertionResponse
    let device: Token?

    /// Takes the browser's response and the ceremony that it answers.
    ///
    /// - Parameters:
    ///   - device: the token of a browser in which the passkey was used before, from an earlier
    ///     response.
    public init(_ response: AssertionResponse, for ceremony: Token, device: Token? = nil) {
        self.ceremony = ceremony
        self.response = response
        self.device = device
    }
}

extension Passkeys {
    /// Finishes a ceremony, once.
    ///
    /// - Parameters:
    ///   - client: the client that began the ceremony.
    ///   - issuesLogin: whether a valid signature gets a ticket, with which the application learns
    ///     who signed in.
    public func finishAuthentication(
        _ sent: SentAssertion, by client: ClientID? = nil,
        issuingLogin issuesLogin: Bool = false, origin: Origin = .unknown,
        recorder: Recorder<AssertionOutcome>? = nil
    ) async throws(VerifierError) -> AssertionOutcome {
        let response = sent.response
        return try await verifier.decide(origin, recorder: recorder, answeringUntil: .end) {
            context throws(VerifierError) in
            // Most ceremonies are for the first ID.
            let first = relyingParty.ids[0]
            let found = try await verifier.challenge(
                sent.ceremony, for: .assertion, by: client,
                answeredBy: .fingerprint(fingerprint(of: response, for: first, context)),
                context)
            guard case .open(let challenge) = found.finding,
                case .assertion(let bytes, let id, let policy) = challenge.content
            else { return denied(found.finding, context) }
            var record = found.record
            if id != first {
                record = verifier.reachable(
                    try await verifier.record(
                        fingerprint: fingerprint(of: response, for: id, context)))
            }
            let stranger = denial(of: record, for: challenge, response, context)
            var known: (record: CredentialRecord, state: PasskeyState)?
            if stranger == nil, let record, case .passkey(let state) = record.material {
                known = (record, state)
            }
            // Chosen even for a known passkey, so that the timing is the same.
            let choice = context.keys.lookup.dummyChoice(of: response.credentialID)
            let dummy = DummyPasskeyKey.algorithm(
                for: choice, among: relyingParty.algorithms)
            let check = AssertionCheck(
                response: response, challenge: (bytes, id, policy), relyingParty: relyingParty,
                meter: context.meter, dummyKey: DummyPasskeyKey.encoded(dummy))
            // The whole check runs even for an unknown passkey, so that the timing is the same.
            let passkey = try known.map { known throws(VerifierError) in
                context.meter?.count(.openings)
                return try known.state.open(
                    for: known.record.place, under: context.key(known.record.keyID))
            }
            if known == nil { try context.keys.dummyPublicKeys.openPasskey(context.meter) }
            let verdict = try check.verdict(by: passkey?.publicKey)
            guard let known, let passkey else {
                let isForgotten = isForgotten(record, response.credentialID, context)
                return denied(
                    challenge, record, stranger ?? .unknown, context,
                    forgottenAt: isForgotten ? id : nil)
            }
            switch verdict {
            case .failure(let reason): return denied(challenge, known.record, reason, context)
            case .success where known.state.hasSpent(challenge, at: context.now):
                return denied(challenge, known.record, .challenge, context)
            case .success(let signed):
                let assertion = SignedAssertion(
                    challenge: challenge, policy: policy, record: known.record,
                    state: known.state, passkey: passkey, signed: signed)
                return decide(assertion, sent.device, issuingLogin: issuesLogin, context)
            }
        }
    }

    private func fingerprint(
        of response: AssertionResponse, for relyingPartyID: String, _ context: DecisionContext
    ) -> [UInt8] {
        context.keys.lookup.fingerprint(
            ofPasskey: response.credentialID, for: relyingPartyID)
    }

    /// Whether the browser should no longer offer a passkey with this id.
    ///
    /// A made-up id is treated like that of a real passkey, so that the response does not reveal
    /// whether a subject exists. If the client is limited to some subjects, every unknown id is
    /// treated in this way, because the id may belong to another subject.
    private func isForgotten(
        _ record: CredentialRecord?, _ id: [UInt8], _ context: DecisionContext
    ) -> Bool {
        let isMadeUp = context.keys.lookup.isMadeUp(id)
        guard let record else { return !isMadeUp && !verifier.isLimited }
        return record.kind == .passkey && record.state == .revoked
    }

    /// Why a credential may not answer the challenge, regardless of its signature.
    private func denial(
        of record: CredentialRecord?, for challenge: Challenge, _ response: AssertionResponse,
        _ context: DecisionContext
    ) -> DenialReason? {
        guard let record, record.kind == .passkey else { return .unknown }
        guard record.state == .active else {
            return record.state == .revoked ? .revoked : .unknown
        }
        // A passkey that was registered after the ceremony began cannot take part in it. The clocks
        // of two nodes may differ a little, and only a wrong clock writes a time in the future.
        guard let confirmedAt = record.confirmedAt,
            confirmedAt <= challenge.createdAt.adding(milliseconds: Policy.clockSkew)
                || confirmedAt > context.now,
            challenge.subject == nil || challenge.subject == record.subject
        else { return .unknown }
        let sent = response.userHandle ?? []
        if sent.isEmpty { return challenge.subject == nil ? .userHandle : nil }
        let handle = handle(of: record.subject, context)
        return isEqualInConstantTime(sent.span, handle.span) ? nil : .userHandle
    }

    /// A valid signature, and the challenge and passkey that it belongs to.
    private struct SignedAssertion {
        let challenge: Challenge
        let policy: PasskeyPolicy
        let record: CredentialRecord
        let state: PasskeyState
        let passkey: RegisteredPasskey
        let signed: AssertionCheck.Signed
    }

    /// Decides on a valid signature under the ceremony's policy.
    private func decide(
        _ assertion: SignedAssertion, _ device: Token?, issuingLogin issuesLogin: Bool,
        _ context: DecisionContext
    ) -> Decision<AssertionOutcome> {
        let (challenge, policy) = (assertion.challenge, assertion.policy)
        let signed = assertion.signed
        var (record, state) = (assertion.record, assertion.state)
        let presented = device.map { device in
            verifier.digest(device, context)
        }
        let isKnown = presented.map { state.knows($0) } ?? false
        let wasEverBackupEligible = state.wasEverBackupEligible(assertion.passkey)
        let meaning = AssertionPolicy(
            policy: policy, wasEverBackupEligible: wasEverBackupEligible, stored: state.flags,
            flags: signed.flags, storedCount: state.count, count: signed.count,
            wasUserVerified: state.wasUserVerified, isKnownDevice: isKnown)
        let stepUp: [StepUpReason]
        switch meaning.verdict {
        case .denied(let reason):
            return denied(challenge, record, reason, context, meaning.events(of: record, context))
        case .accepted(let reasons): stepUp = reasons
        }
        var newDevice: Token?
        var digest = presented
        let canHaveCopies = signed.flags.isBackupEligible || wasEverBackupEligible
        if policy.backup == .stepUp, canHaveCopies, !isKnown {
            let token = Token(
                .knownDevice, context.randomSecret(Token.Kind.knownDevice.count))
            newDevice = token
            digest = verifier.digest(token, context)
        }
        let use = PasskeyState.OpenStepUp(
            verification: context.verification, time: context.now, flags: signed.flags,
            count: signed.count, device: isKnown || newDevice != nil ? digest : nil)
        if stepUp.isEmpty {
            state.apply(use, at: context.now, verifies: policy.userVerification != .discouraged)
            record.lastUsedAt = context.now
        } else {
            state.stepUp = use
        }
        var login: (ticket: LoginTicket, row: TicketRow)?
        if issuesLogin {
            login = verifier.newLoginTicket(for: record, context)
            state.openLogin(
                context.verification, isUserVerified: signed.flags.isUserVerified, stepUp: stepUp)
        }
        state.spend(challenge, at: context.now)
        record.material = .passkey(state)
        let signer = AssertionOutcome.Signer(
            credential: record.id, subject: record.subject,
            isUserVerified: signed.flags.isUserVerified,
            isDeviceBound: !canHaveCopies, isBackedUp: signed.flags.isBackedUp,
            counter: meaning.counter, device: newDevice)
        return Decision(
            outcome: AssertionOutcome(
                verification: context.verification, result: .signed(signer, stepUp: stepUp),
                login: login?.ticket),
            changes: [
                .spendChallenge(digest: challenge.digest), .updateCredential(record.row),
                context.event(stepUp.isEmpty ? .accepted : .stepUpRequired, of: record),
            ] + (login.map { [.insertTicket($0.row)] } ?? []) + meaning.events(of: record, context),
            secretsOf: record.id)
    }

    /// Denies a response to an open challenge, and spends the challenge.
    private func denied(
        _ challenge: Challenge, _ record: CredentialRecord?, _ reason: DenialReason,
        _ context: DecisionContext, _ others: [StoreChange] = [], forgottenAt: String? = nil
    ) -> Decision<AssertionOutcome> {
        let outcome = AssertionOutcome(
            verification: context.verification, result: .denied(reason), forgottenAt: forgottenAt)
        let event = context.unwritten(
            .denied, reason, subject: record?.subject ?? challenge.subject,
            credential: record?.id)
        let sender = DenialCounter.Sender(strangerAt: context.origin)
        return Decision(
            outcome: outcome,
            changes: [
                .spendChallenge(digest: challenge.digest), .writeDummy(context.dummy()),
            ] + others, recordsResponse: sender == nil
        ).counting(event, by: sender)
    }

    /// Denies a response without an open challenge.
    private func denied(
        _ finding: ChallengeFinding, _ context: DecisionContext
    ) -> Decision<AssertionOutcome> {
        var reason = DenialReason.challenge
        var changes: [StoreChange] = [.writeDummy(context.dummy())]
        if case .expired(let challenge) = finding {
            reason = .expired
            changes.append(.spendChallenge(digest: challenge.digest))
        }
        let outcome = AssertionOutcome(
            verification: context.verification, result: .denied(reason))
        return Decision(outcome: outcome, changes: changes, recordsResponse: false).counting(
            context.unwritten(.denied, reason, subject: nil, credential: nil),
            by: DenialCounter.Sender(strangerAt: context.origin))
    }
}

extension AssertionPolicy {
    /// The events for the findings of a valid signature; they are reported at once.
    fileprivate func events(
        of record: CredentialRecord, _ context: DecisionContext
    ) -> [StoreChange] {
        (hasBackupChanged ? [context.event(.backupChanged, of: record)] : [])
            + (counter == .rollback
                ? [context.event(.counterRolledBack, of: record, number: Int64(count))] : [])
    }
}
