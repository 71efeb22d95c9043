internal import WatchwordCryptography

extension Verifier {
    /// Issues a ticket with which a device can fetch its secret once, within ten minutes.
    ///
    /// - Parameter audience: the clients that may redeem the device's logins, at most
    ///   ``Policy/maximumAudience``; empty if the verifier is used without clients.
    public func enrolSecret(
        for subject: Subject, name: String = "", audience: Set<ClientID> = [],
        origin: Origin = .unknown,
        recorder: Recorder<EnrolmentOutcome<SecretGrant>>? = nil
    ) async throws(VerifierError) -> EnrolmentOutcome<SecretGrant> {
        try await decide(origin, recorder: recorder) { context throws(VerifierError) in
            let room = makingRoom(
                for: subject, among: try await records(of: subject), context)
            guard let room else { return Decision(outcome: .refused(.tooMany), changes: []) }
            guard try await areClients(audience) else {
                return Decision(outcome: .refused(.unknownClient), changes: [])
            }
            var record = newRecord(.secret, subject, name: name, state: .pending, context)
            record.audience = audience.sorted()
            let (ticket, row) = newEnrolmentTicket(for: record, context)
            return Decision(
                outcome: .granted(
                    SecretGrant(credential: record.id, ticket: ticket, expiresAt: row.expiresAt)),
                changes: room + [
                    .insertCredential(record.row), .insertTicket(row),
                    context.event(.enrolmentStarted, of: record),
                ], secretsOf: record.id)
        }
    }

    /// Issues a device's first secret for its ticket, once.
    ///
    /// - Parameters:
    ///   - name: replaces the name given at enrolment; `nil` keeps the name.
    ///   - custody: the binding of the secret to the device, as the device states; `nil` if there
    ///     is none.
    public func redeemEnrolment(
        _ ticket: Token, name: String? = nil, custody: SecretCustody? = nil,
        origin: Origin = .unknown,
        recorder: Recorder<RedemptionOutcome<IssuedSecret>>? = nil
    ) async throws(VerifierError) -> RedemptionOutcome<IssuedSecret> {
        try await decide(origin, recorder: recorder, answeringUntil: .use) {
            context throws(VerifierError) in
            let row = try await self.ticket(ticket, .enrolment, context)
            guard let row, row.expiresAt > context.now,
                let pending = try await record(row.credential), pending.state == .pending,
                pending.kind == .secret, !pending.isLapsed(at: context.now)
            else { return refusing(row, context) }
            let derivation = SecretDerivation(
                credential: pending.id, lookup: context.keys.lookup, meter: meter)
            let random = context.randomSecret(SecretParts.secretCount)
            let secret = derivation.first(random)
            let digest = derivation.digest(of: secret, under: context.keys.current)
            var record = pending.confirmed(name: name, from: context.origin, context)
            record.material = .secret(
                SecretChain(digest: digest, at: context.now, custody: custody))
            return Decision(
                outcome: .redeemed(
                    IssuedSecret(
                        credential: record.id, secret: secret.token, generation: 0)),
                changes: [
                    .spendTicket(digest: row.digest), .updateCredential(record.row),
                    // This deletes the recorded response that contains the ticket; the response to
                    // this request is recorded afterwards.
                    .endAnswers(of: record.id), context.event(.enrolled, of: record),
                ], secretsOf: record.id)
        }
    }

    /// Signs a device in with its secret, which is spent, and issues the next one.
    ///
    /// - Parameters:
    ///   - secret: a token of the kind ``Token/Kind/secret``.
    ///   - nonce: the nonce that the device stored before it sent the request.
    public func login(
        _ credential: CredentialID, secret: Token, nonce: RotationNonce, origin: Origin = .unknown,
        recorder: Recorder<LoginOutcome>? = nil
    ) async throws(VerifierError) -> LoginOutcome {
        let presented = SecretParts(secret)
        // After the credential has ended, a login is decided again, because a device that lost a
        // response must learn of the revocation.
        return try await decide(
            origin, recorder: recorder, answeringUntil: .end, decidingAfterEnd: true
        ) { context throws(VerifierError) in
            let nonceDigest = sha256(nonce.bytes.span)
            let attempt = LoginAttempt(
                credential: credential, secret: presented, nonceDigest: nonceDigest,
                context: context)
            return try attempt.decide(try await record(credential))
        }
    }

    /// Tells the application once, within a minute, who signed in.
    ///
    /// Revoking the credential deletes its tickets in the same commit.
    ///
    /// - Parameter client: the client that sends the request. If the client is not in the
    ///   credential's audience, or is limited to other subjects, the outcome is the same as for an
    ///   unknown ticket, and the ticket is not spent.
    public func redeemLogin(
        _ ticket: Token, by client: ClientID? = nil, origin: Origin = .unknown,
        recorder: Recorder<RedemptionOutcome<SignedIn>>? = nil
    ) async throws(VerifierError) -> RedemptionOutcome<SignedIn> {
        try await decide(origin, recorder: recorder) { context throws(VerifierError) in
            let row = try await self.ticket(ticket, .login, context)
            guard let row, row.expiresAt > context.now else { return denied(row, context) }
            guard includes(row.subject) else {
                return denied(row, context, because: .otherAudience)
            }
            // A credential's tickets are deleted when it ends, so this row was put back.
            guard var record = try await record(row.credential), record.state == .active else {
                return denied(row, context, because: .revoked)
            }
            guard record.admits(client) else {
                return denied(row, context, because: .otherAudience)
            }
            // The credential's own row records which tickets are still open, whatever ticket rows
            // exist.
            var facts: DeviceKeyFacts?
            var passkeyFacts: PasskeyFacts?
            switch record.material {
            case .secret(var chain):
                guard chain.close(row.verification) else {
                    return denied(row, context, because: .spent)
                }
                record.material = .secret(chain)
            case .deviceKey(var key):
                guard let use = key.openUses.close(row.verification) else {
                    return denied(row, context, because: .spent)
                }
                let custody = try key.open(for: record.place, under: context.key(record.keyID))
                    .custody
                facts = DeviceKeyFacts(
                    purpose: use.purpose, textDigest: use.textDigest, custody: custody,
                    presence: use.presence)
                record.material = .deviceKey(key)
            case .passkey(var passkey):
                guard let use = passkey.openUses.close(row.verification) else {
                    return denied(row, context, because: .spent)
                }
                passkeyFacts = PasskeyFacts(
                    isUserVerified: use.isUserVerified, stepUp: use.stepUp)
                record.material = .passkey(passkey)
            default: return denied(row, context, because: .revoked)
            }
            return Decision(
                outcome: .redeemed(
                    SignedIn(
                        subject: row.subject, credential: row.credential, kind: record.kind,
                        verification: row.verification, verifiedAt: row.createdAt,
                        deviceKey: facts, passkey: passkeyFacts)),
                changes: [
                    .spendTicket(digest: row.digest), .updateCredential(record.row),
                    context.event(
                        .loginRedeemed, subject: row.subject, credential: row.credential),
                ])
        }
    }

    /// Whether these clients exist, are not revoked, and are no more than an audience may have.
    func areClients(_ ids: Set<ClientID>) async throws(VerifierError) -> Bool {
        guard !ids.isEmpty else { return true }
        guard ids.count <= Policy.maximumAudience else { return false }
        let known = try await clients().filter { $0.revokedAt == nil }.map(\.id)
        return ids.allSatisfy { known.contains($0.bytes) }
    }

    /// Denies a ticket that only an application or a user of this machine can present.
    func denied<Value>(
        _ row: TicketRow?, _ context: DecisionContext, because reason: Event.Reason = .expired
    ) -> Decision<RedemptionOutcome<Value>> {
        Decision(outcome: .denied, changes: []).counting(
            context.unwritten(
                .denied, row == nil ? .unknown : reason, subject: row?.subject,
                credential: row?.credential), by: nil)
    }

}

extension CredentialRecord {
    /// Whether this client may redeem the credential's logins.
    fileprivate func admits(_ client: ClientID?) -> Bool {
        audience.isEmpty || client.map(audience.contains) ?? false
    }
}

// The tickets of enrolments and logins.
extension Verifier {
    /// Makes the ticket with which a device completes an enrolment, and the row to insert.
    package func newEnrolmentTicket(
        for record: CredentialRecord, _ context: DecisionContext
    ) -> (ticket: Token, row: TicketRow) {
        newTicket(
            .enrolmentTicket, .enrolment, for: record, lifetime: Policy.enrolmentLifetime, context)
    }

    /// Makes the ticket of an accepted login, and the row to insert.
    package func newLoginTicket(
        for record: CredentialRecord, _ context: DecisionContext
    ) -> (ticket: LoginTicket, row: TicketRow) {
        let (token, row) = newTicket(
            .loginTicket, .login, for: record, lifetime: Policy.loginLifetime, context)
        return (LoginTicket(token: token, expiresAt: row.expiresAt), row)
    }

    private func newTicket(
        _ kind: Token.Kind, _ purpose: TicketRow.Purpose, for record: CredentialRecord,
        lifetime: Int64, _ context: DecisionContext
    ) -> (ticket: Token, row: TicketRow) {
        let ticket = Token(kind, context.randomSecret(kind.count))
        let row = TicketRow(
            digest: digest(ticket, context), purpose: purpose, credential: record.id,
            subject: record.subject, verification: context.verification, createdAt: context.now,
            expiresAt: context.now.adding(milliseconds: lifetime))
        return (ticket, row)
    }

    /// The digest under which a token's row is found.
    package func digest(_ token: Token, _ context: DecisionContext) -> [UInt8] {
        context.keys.lookup.digest(of: token.bytes, as: token.kind)
    }

    /// The row of a ticket, if the ticket was issued for this purpose.
    package func ticket(
        _ token: Token, _ purpose: TicketRow.Purpose, _ context: DecisionContext
    ) async throws(VerifierError) -> TicketRow? {
        let digest = digest(token, context)
        let row = try await VerifierError.store(in: await store.ticket(digest: digest))
        return row.flatMap { $0.purpose == purpose ? $0 : nil }
    }

    /// Denies an enrolment ticket, and counts the denial, because anyone can present a ticket.
    package func refusing<Value>(
        _ row: TicketRow?, _ context: DecisionContext
    ) -> Decision<RedemptionOutcome<Value>> {
        Decision<RedemptionOutcome<Value>>(
            outcome: .denied, changes: [], recordsResponse: false
        ).counting(
            context.unwritten(
                .denied, row == nil ? .unknown : .expired, subject: row?.subject,
                credential: row?.credential),
            by: DenialCounter.Sender(strangerAt: context.origin))
    }
}

/// A ticket with which the application learns who signed in, once.
public struct LoginTicket: Sendable {
    /// The ticket, which is a secret.
    public let token: Token
    /// The time from which the ticket is refused.
    public let expiresAt: UnixTime
}
