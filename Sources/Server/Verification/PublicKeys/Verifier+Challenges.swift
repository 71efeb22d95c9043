internal import WatchwordCryptography

/// What a token names.
enum ChallengeFinding: Sendable {
    /// An open challenge, which the decision spends, whatever its result.
    case open(Challenge)
    /// An expired challenge, which the decision spends.
    case expired(Challenge)
    /// Nothing, or nothing for this purpose and this client; the decision spends nothing.
    case unknown
}

extension Verifier {
    /// Creates the challenge of a ceremony that begins now.
    ///
    /// - Returns: the token that names the ceremony, and the row to insert.
    func newChallenge(
        _ kind: Token.Kind, _ content: Challenge.Content, subject: Subject?,
        credential: CredentialID?, client: ClientID?, lifetime: Int64 = Challenge.lifetime,
        _ context: DecisionContext
    ) -> (token: Token, challenge: Challenge) {
        let token = Token(kind, context.randomSecret(kind.count))
        let challenge = Challenge(
            digest: digest(token, context), content: content, subject: subject,
            credential: credential, client: client, createdAt: context.now,
            expiresAt: context.now.adding(milliseconds: lifetime))
        return (token, challenge)
    }

    /// The challenge that a token names, if this client began the ceremony, and the credential that
    /// answers it.
    func challenge(
        _ token: Token, for purpose: ChallengeRow.Purpose, by client: ClientID?,
        answeredBy credential: AnsweringCredential, _ context: DecisionContext
    ) async throws(VerifierError) -> (finding: ChallengeFinding, record: CredentialRecord?) {
        let digest = digest(token, context)
        let rows = try await read { store throws(StoreFailure) in
            try await store.challenge(digest: digest, answeredBy: credential)
        }
        let record = try decoded(rows.credential)
        guard let row = rows.challenge, row.purpose == purpose else { return (.unknown, record) }
        let challenge = try Challenge(row)
        // A ceremony that another client began does not exist for this one, which therefore cannot
        // spend it either.
        guard challenge.client == client else { return (.unknown, record) }
        return (
            challenge.isOpen(at: context.now) ? .open(challenge) : .expired(challenge), record
        )
    }
}
