internal import WatchwordCryptography

// The tickets of enrolments and logins.
extension Verifier {
    /// Creates the ticket with which a device completes an enrolment, and the row to insert.
    package func newEnrolmentTicket(
        for record: CredentialRecord, _ context: DecisionContext
    ) -> (ticket: Token, row: TicketRow) {
        newTicket(
            .enrolmentTicket, .enrolment, for: record, lifetime: Policy.enrolmentLifetime, context)
    }

    /// Creates the ticket of an accepted login, and the row to insert.
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

    /// The row of a ticket that was issued for this purpose.
    package func ticket(
        _ token: Token, _ purpose: TicketRow.Purpose, _ context: DecisionContext
    ) async throws(VerifierError) -> TicketRow? {
        let digest = digest(token, context)
        let row = try await read { store throws(StoreFailure) in
            try await store.ticket(digest: digest)
        }
        return row.flatMap { $0.purpose == purpose ? $0 : nil }
    }

    /// Refuses an enrolment ticket, and counts the denial, because anybody can present one.
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
    /// The ticket.
    public let token: Token
    /// The end of its lifetime.
    public let expiresAt: UnixTime
}
