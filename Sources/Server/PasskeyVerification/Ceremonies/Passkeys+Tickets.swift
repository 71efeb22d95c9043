public import Verification

// Registration on a page that has only a ticket.
extension Passkeys {
    /// Issues a ticket with which a page can register a passkey once, within ten minutes.
    ///
    /// - Parameter canManage: whether the client may also replace another client's credential.
    public func issueTicket(
        for enrolment: PasskeyEnrolment, account: PasskeyAccount, canManage: Bool = false,
        origin: Origin = .unknown,
        recorder: Recorder<EnrolmentOutcome<PasskeyTicket>>? = nil
    ) async throws(VerifierError) -> EnrolmentOutcome<PasskeyTicket> {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            let records = try await verifier.records(of: enrolment.subject)
            if let refusal = refusal(enrolment, among: records, canManage, context) {
                return Decision(outcome: .refused(refusal), changes: [])
            }
            let pending = newPending(enrolment, account: account, context)
            let record = newRecord(enrolment, pending, among: records, context)
            let (ticket, row) = verifier.newEnrolmentTicket(for: record, context)
            return Decision(
                outcome: .granted(
                    PasskeyTicket(
                        credential: record.id, ticket: ticket, expiresAt: row.expiresAt)),
                changes: changes(inserting: record, among: records, context)
                    + [.insertTicket(row)],
                secretsOf: record.id)
        }
    }

    /// Begins an attempt to register a passkey with a ticket.
    ///
    /// Each attempt has a new challenge; the previous challenge is no longer accepted.
    public func beginRegistration(
        with ticket: Token, origin: Origin = .unknown,
        recorder: Recorder<RedemptionOutcome<PasskeyInvitation>>? = nil
    ) async throws(VerifierError) -> RedemptionOutcome<PasskeyInvitation> {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            let row = try await verifier.ticket(ticket, .enrolment, context)
            guard var (record, pending) = try await open(row, context),
                let account = pending.account, let lapsesAt = record.lapsesAt
            else { return verifier.refusing(row, context) }
            pending.challenge = context.randomBytes(Challenge.byteCount)
            record.material = .pendingPasskey(pending)
            let records = try await verifier.records(of: record.subject)
            return Decision(
                outcome: .redeemed(
                    PasskeyInvitation(
                        options: try options(for: record, pending, among: records, context),
                        account: account, expiresAt: lapsesAt)),
                changes: [.updateCredential(record.row)])
        }
    }

    /// Finishes an attempt to register a passkey with a ticket.
    ///
    /// Success spends the ticket. A denial spends only the attempt's challenge, so that the
    /// ticket's holder can try again.
    ///
    /// - Parameters:
    ///   - name: replaces the name given at the beginning; `nil` keeps it.
    ///   - origin: the origin of the request, with the browser's user agent; both are stored.
    public func finishRegistration(
        with ticket: Token, response: RegistrationResponse, name: String? = nil,
        origin: Origin = .unknown,
        recorder: Recorder<RedemptionOutcome<RegistrationOutcome>>? = nil
    ) async throws(VerifierError) -> RedemptionOutcome<RegistrationOutcome> {
        try await verifier.decide(origin, recorder: recorder, answeringUntil: .end) {
            context throws(VerifierError) in
            let row = try await verifier.ticket(ticket, .enrolment, context)
            guard let row, var (record, pending) = try await open(row, context) else {
                return verifier.refusing(row, context)
            }
            switch try await verdict(on: response, record, pending, name: name, context) {
            case .success(let accepted):
                return Decision(
                    outcome: .redeemed(.accepted(accepted.facts)),
                    changes: [.spendTicket(digest: row.digest)] + accepted.changes)
            case .failure(let reason):
                pending.challenge = context.randomBytes(Challenge.byteCount)
                record.material = .pendingPasskey(pending)
                return Decision(
                    outcome: .redeemed(.denied(reason)),
                    changes: [.updateCredential(record.row)], recordsResponse: false
                ).counting(
                    context.unwritten(
                        .denied, reason, subject: record.subject,
                        credential: record.id),
                    by: DenialCounter.Sender(strangerAt: context.origin))
            }
        }
    }

    /// The registration that belongs to a ticket.
    private func open(
        _ row: TicketRow?, _ context: DecisionContext
    ) async throws(VerifierError) -> (CredentialRecord, PendingPasskey)? {
        guard let row, row.expiresAt > context.now,
            let record = try await verifier.record(row.credential), record.state == .pending,
            !record.isLapsed(at: context.now),
            case .pendingPasskey(let pending) = record.material
        else { return nil }
        return (record, pending)
    }
}
