/// A credential's row with its body taken apart: what decisions read and change.
struct CredentialRecord: Sendable {
    let id: CredentialID
    let subject: Subject
    let kind: CredentialKind
    let createdAt: UnixTime
    let origin: Origin
    /// The version that is stored; the row that is made of the record has the next one.
    var version: UInt64 = 0
    var state: CredentialState
    var keyID: KeyID?
    var fingerprint: [UInt8]?
    var lapsesAt: UnixTime?
    var name: String
    /// The clients that may redeem its logins; empty if the verifier is used without clients.
    var audience: [ClientID] = []
    var confirmedAt: UnixTime?
    var lastUsedAt: UnixTime?
    var endedAt: UnixTime?
    var endReason: Event.Reason?
    var throttle = Throttle()
    var material: Material

    /// What codes and secrets are checked against.
    enum Material: Sendable {
        case time(TimePassword)
        case counter(CounterPassword)
        case recovery(RecoverySet)
        case secret(SecretChain)
        /// Nothing yet, or nothing any more.
        case none
    }

    /// Whether it was handed out and not confirmed in time.
    func isLapsed(at now: UnixTime) -> Bool {
        state == .pending && lapsesAt.map { $0 <= now } ?? false
    }

    /// Ends the credential's life; what it was checked against is deleted.
    ///
    /// What was never in use leaves its key free for another enrolment, and a set of recovery codes its
    /// place to the next one.
    mutating func end(as state: CredentialState, because reason: Event.Reason, at now: UnixTime) {
        if confirmedAt == nil || kind == .recovery { fingerprint = nil }
        self.state = state
        material = .none
        keyID = nil
        lapsesAt = nil
        endedAt = now
        endReason = reason
    }

    /// What is stored once ``end(as:because:at:)`` has ended it: nothing is left that could be redeemed
    /// or read again.
    var changesAtEnd: [StoreChange] {
        [.updateCredential(row), .dropTickets(of: id), .endAnswers(of: id)]
    }

    /// What may be told of it.
    func summary(at now: UnixTime) -> CredentialSummary {
        var remaining: Int?
        if case .recovery(let set) = material { remaining = set.remaining }
        return CredentialSummary(
            id: id, subject: subject, kind: kind, state: isLapsed(at: now) ? .revoked : state,
            name: name, createdAt: createdAt, lapsesAt: lapsesAt, confirmedAt: confirmedAt,
            lastUsedAt: lastUsedAt, endedAt: endedAt, endReason: endReason, origin: origin,
            failures: throttle.failures, waitsUntil: throttle.waitsUntil, remaining: remaining)
    }
}
