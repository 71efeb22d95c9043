public import Verification
internal import WatchwordCryptography

/// A request to enrol a passkey.
public struct PasskeyEnrolment: Sendable {
    /// The owner of the passkey.
    public let subject: Subject
    /// The credential's name in lists of credentials.
    public let name: String
    /// The requirements for the passkey.
    public let policy: PasskeyPolicy
    /// A credential of the subject that is revoked when the passkey is accepted.
    public let replaces: CredentialID?

    /// Sets the subject, the name, the policy and the credential to replace.
    public init(
        for subject: Subject, name: String = "", policy: PasskeyPolicy = .standard,
        replacing replaces: CredentialID? = nil
    ) {
        self.subject = subject
        self.name = name
        self.policy = policy
        self.replaces = replaces
    }
}

extension Passkeys {
    /// Begins a registration, which must be finished within ten minutes.
    ///
    /// - Parameter canManage: whether the client may also replace another client's credential.
    public func beginRegistration(
        _ enrolment: PasskeyEnrolment, canManage: Bool = false, origin: Origin = .unknown,
        recorder: Recorder<EnrolmentOutcome<PasskeyGrant>>? = nil
    ) async throws(VerifierError) -> EnrolmentOutcome<PasskeyGrant> {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            let records = try await verifier.records(of: enrolment.subject)
            if let refusal = refusal(enrolment, among: records, canManage, context) {
                return Decision(outcome: .refused(refusal), changes: [])
            }
            let pending = newPending(enrolment, context)
            let record = newRecord(enrolment, pending, among: records, context)
            let grant = PasskeyGrant(
                credential: record.id,
                options: try options(for: record, pending, among: records, context),
                expiresAt: context.now.adding(milliseconds: Policy.enrolmentLifetime))
            return Decision(
                outcome: .granted(grant),
                changes: changes(inserting: record, among: records, context))
        }
    }

    /// Why the subject may not register a passkey.
    func refusal(
        _ enrolment: PasskeyEnrolment, among records: [CredentialRecord], _ canManage: Bool,
        _ context: DecisionContext
    ) -> EnrolmentRefusal? {
        // Each unfinished registration can end, or give its row to the new registration.
        let finished = records.count { $0.state != .pending }
        guard finished < context.policy.maximumCredentials else { return .tooMany }
        return verifier.refusal(
            replacing: enrolment.replaces, among: records, canManage, context)
    }

    func newPending(
        _ enrolment: PasskeyEnrolment, account: PasskeyAccount? = nil, _ context: DecisionContext
    ) -> PendingPasskey {
        PendingPasskey(
            challenge: context.randomBytes(Challenge.byteCount),
            relyingParty: relyingParty.ids[0], policy: enrolment.policy,
            replaces: enrolment.replaces, account: account)
    }

    /// A registration of the subject that was not finished in time.
    ///
    /// The registration counts towards the subject's credentials until it is pruned, so that the
    /// list cannot be filled. The next registration takes its row, so that cancelled registrations
    /// do not block the subject.
    private func expired(
        _ records: [CredentialRecord], _ context: DecisionContext
    ) -> CredentialRecord? {
        records.first { $0.kind == .passkey && $0.isLapsed(at: context.now) }
    }

    func newRecord(
        _ enrolment: PasskeyEnrolment, _ pending: PendingPasskey,
        among records: [CredentialRecord], _ context: DecisionContext
    ) -> CredentialRecord {
        var record = verifier.newRecord(
            .passkey, enrolment.subject, name: enrolment.name, state: .pending, context)
        if let expired = expired(records, context) { record = record.taking(rowOf: expired) }
        record.material = .pendingPasskey(pending)
        return record
    }

    func changes(
        inserting record: CredentialRecord, among records: [CredentialRecord],
        _ context: DecisionContext
    ) -> [StoreChange] {
        let event = context.event(.enrolmentStarted, of: record)
        guard record.version > 0 else {
            let room = verifier.makingRoom(for: record.subject, among: records, context)
            return (room ?? []) + [.insertCredential(record.row), event]
        }
        return [
            .updateCredential(record.row), .dropTickets(of: record.id), .endAnswers(of: record.id),
            event,
        ]
    }

    func options(
        for record: CredentialRecord, _ pending: PendingPasskey,
        among records: [CredentialRecord], _ context: DecisionContext
    ) throws(VerifierError) -> CreationOptions {
        let end = record.lapsesAt ?? context.now
        return CreationOptions(
            relyingParty: (pending.relyingParty, relyingParty.name),
            userHandle: handle(of: record.subject, context), challenge: pending.challenge,
            algorithms: relyingParty.algorithms,
            excluded: try descriptors(of: records, at: pending.relyingParty, context),
            policy: pending.policy,
            timeout: max(1_000, end.milliseconds(since: context.now) - Self.grace))
    }

    /// Finishes a registration, once.
    ///
    /// A denial ends the registration: its challenge is spent.
    ///
    /// - Parameters:
    ///   - name: replaces the name given at the beginning; `nil` keeps it.
    ///   - origin: the origin of the request, with the browser's user agent; both are stored.
    /// - Returns: `nil` if there is no such credential, or if the credential is not a passkey.
    public func finishRegistration(
        of credential: CredentialID, with response: RegistrationResponse, name: String? = nil,
        origin: Origin = .unknown, recorder: Recorder<RegistrationOutcome?>? = nil
    ) async throws(VerifierError) -> RegistrationOutcome? {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            guard let record = try await verifier.record(credential), record.kind == .passkey else {
                return Decision(outcome: nil, changes: []).counting(
                    context.unwritten(.denied, .unknown, subject: nil, credential: credential),
                    by: nil)
            }
            guard record.state == .pending, case .pendingPasskey(let pending) = record.material
            else {
                let reason: DenialReason = record.state == .active ? .challenge : .revoked
                return Decision(outcome: .denied(reason), changes: []).counting(
                    context.unwritten(
                        .denied, reason, subject: record.subject,
                        credential: credential),
                    by: nil)
            }
            guard !record.isLapsed(at: context.now) else {
                return denied(record, .expired, context)
            }
            switch try await verdict(on: response, record, pending, name: name, context) {
            case .failure(let reason): return denied(record, reason, context)
            case .success(let accepted):
                return Decision(
                    outcome: .accepted(accepted.facts), changes: accepted.changes)
            }
        }
    }

    /// The changes that an accepted registration makes.
    struct Accepted {
        let facts: RegistrationOutcome.Acceptance
        let changes: [StoreChange]
    }

    /// Decides on a response to an open registration.
    func verdict(
        on response: RegistrationResponse, _ record: CredentialRecord, _ pending: PendingPasskey,
        name: String?, _ context: DecisionContext
    ) async throws(VerifierError) -> Result<Accepted, DenialReason> {
        let check = RegistrationCheck(
            response: response, pending: pending, relyingParty: relyingParty, now: context.now)
        switch try check.verdict() {
        case .denied(let reason): return .failure(reason)
        case .accepted(let passkey, let count, let isWeaklyAttested):
            let fingerprint = context.keys.lookup.fingerprint(
                ofPasskey: passkey.credentialID, for: passkey.relyingParty)
            // A made-up id is refused like a real one, so that the response does not distinguish
            // them.
            let isMadeUp = context.keys.lookup.isMadeUp(passkey.credentialID)
            let known = try await verifier.record(fingerprint: fingerprint)
            guard known == nil, !isMadeUp else { return .failure(.credentialKnown) }
            var active = record.confirmed(name: name, from: context.origin, context)
            active.fingerprint = fingerprint
            let place = active.place
            active.material = .passkey(
                PasskeyState(
                    sealing: passkey, count: count, for: place, under: context.keys.current))
            return .success(
                try await accepted(
                    active, passkey, replacing: pending.replaces,
                    because: isWeaklyAttested ? .attestationWeak : nil, context))
        }
    }

    private func accepted(
        _ record: CredentialRecord, _ passkey: RegisteredPasskey,
        replacing replaced: CredentialID?, because reason: Event.Reason?,
        _ context: DecisionContext
    ) async throws(VerifierError) -> Accepted {
        var isOnlyCredential = true
        for other in try await verifier.records(of: record.subject)
        where other.id != record.id && other.id != replaced {
            if try isUsable(other, context) { isOnlyCredential = false }
        }
        var changes: [StoreChange] = [
            .updateCredential(record.row), .endAnswers(of: record.id),
            context.event(.enrolled, reason, of: record),
        ]
        changes += try await verifier.replacing(replaced, context)
        return Accepted(
            facts: RegistrationOutcome.Acceptance(
                isDeviceBound: !passkey.flags.isBackupEligible,
                isBackedUp: passkey.flags.isBackedUp,
                isUserVerified: passkey.flags.isUserVerified,
                attestation: passkey.attestation.rawValue, model: passkey.knownModel,
                isOnlyCredential: isOnlyCredential),
            changes: changes)
    }

    /// Whether the subject can sign in with a credential, recovery codes aside.
    private func isUsable(
        _ record: CredentialRecord, _ context: DecisionContext
    ) throws(VerifierError) -> Bool {
        guard record.state == .active, record.kind != .recovery else { return false }
        guard case .passkey(let state) = record.material else { return true }
        let passkey = try state.open(for: record.place, under: context.key(record.keyID))
        return relyingParty.ids.contains(passkey.relyingParty)
    }

    /// Ends a registration that was denied.
    private func denied(
        _ record: CredentialRecord, _ reason: DenialReason, _ context: DecisionContext
    ) -> Decision<RegistrationOutcome?> {
        var record = record
        record.end(as: .revoked, because: reason, at: context.now)
        return Decision(
            outcome: .denied(reason),
            changes: record.changesAtEnd + [context.event(.denied, reason, of: record)])
    }
}
