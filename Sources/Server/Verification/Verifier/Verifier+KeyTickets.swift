internal import WatchwordCryptography

// An administrator starts an enrolment, and the user finishes it elsewhere, so that only the user
// sees the key.

extension Verifier {
    /// Issues a ticket with which the subject fetches a new key for one-time passwords once, within
    /// ten minutes.
    ///
    /// In that time, a first code must confirm the key (``confirm(_:code:origin:recorder:)``).
    public func issueOneTimePasswordTicket(
        _ enrolment: OneTimePasswordEnrolment, for subject: Subject, origin: Origin = .unknown,
        recorder: Recorder<EnrolmentOutcome<SecretGrant>>? = nil
    ) async throws(VerifierError) -> EnrolmentOutcome<SecretGrant> {
        try await decide(origin, recorder: recorder) { context throws(VerifierError) in
            let seed = seed(for: enrolment, context)
            switch try await start(enrolment, seed, for: subject, context) {
            case nil: return nil
            case .refused(let refusal)?: return Decision(outcome: .refused(refusal), changes: [])
            case .granted(let started)?:
                let (ticket, row) = newEnrolmentTicket(for: started.record, context)
                let grant = SecretGrant(
                    credential: started.record.id, ticket: ticket, expiresAt: row.expiresAt)
                return Decision(
                    outcome: .granted(grant), changes: started.changes + [.insertTicket(row)],
                    secretsOf: started.record.id)
            }
        }
    }

    /// Shows the subject the key for its ticket, once.
    ///
    /// - Parameters:
    ///   - subject: the subject that presents the ticket. The ticket of a different subject is
    ///     denied, and not spent.
    ///   - issuer: the service that asks for codes, as the authenticator displays it.
    ///   - account: the user's account, as the authenticator shows it.
    public func redeemOneTimePassword(
        _ ticket: Token, of subject: Subject, issuer: String, account: String,
        origin: Origin = .unknown
    ) async throws(VerifierError) -> RedemptionOutcome<OneTimePasswordGrant> {
        try await decide(origin, recorder: nil) { context throws(VerifierError) in
            let row = try await self.ticket(ticket, .enrolment, context)
            guard let row, row.subject == subject, row.expiresAt > context.now,
                let record = try await record(row.credential), record.state == .pending,
                let (sealed, factor) = record.material.oneTimePassword,
                !record.isLapsed(at: context.now)
            else { return denied(row, context) }
            let seed = try sealed.open(for: record.place, under: context.key(record.keyID))
            let enrolment = try OneTimePasswordEnrolment(
                issuer: issuer, account: account, factor: factor,
                algorithm: sealed.parameters.algorithm, digits: sealed.parameters.digits,
                key: seed, name: record.name)
            let grant = OneTimePasswordGrant(
                credential: record.id, uri: uri(enrolment, seed), expiresAt: row.expiresAt)
            return Decision(
                outcome: .redeemed(grant),
                changes: [
                    .spendTicket(digest: row.digest), .endAnswers(of: record.id),
                    context.event(.enrolmentStarted, of: record),
                ], secretsOf: record.id)
        }
    }
}

extension CredentialRecord.Material {
    /// The key for one-time passwords and its moving factor; `nil` for other credentials.
    fileprivate var oneTimePassword: (SealedSeed, OneTimePasswordEnrolment.Factor)? {
        switch self {
        case .time(let password):
            password.seed.parameters.period.map { (password.seed, .time(period: $0)) }
        case .counter(let password): (password.seed, .counter(password.counter))
        case .recovery, .secret, .pendingPasskey, .passkey, .pendingDeviceKey, .deviceKey, .none:
            nil
        }
    }
}
