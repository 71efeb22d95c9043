internal import WatchwordCryptography

/// An open authentication ceremony: a ``ChallengeRow`` with its body decoded.
package struct Challenge: Hashable, Sendable {
    /// The values that the answer must match.
    package enum Content: Hashable, Sendable {
        /// A passkey signs in.
        ///
        /// - Parameter bytes: the random bytes that the client data must contain.
        case assertion(bytes: [UInt8], relyingParty: String, policy: PasskeyPolicy)
        /// A device key signs in; the challenge is the token itself.
        case signIn
        /// A device key confirms displayed text; the challenge is the token itself.
        case confirmation(textDigest: [UInt8])
    }

    /// The keyed digest of the token that identifies the ceremony.
    package let digest: [UInt8]
    /// The values that the answer must match.
    package let content: Content
    /// The subject that must answer; `nil` if the answer identifies the subject.
    package let subject: Subject?
    /// The credential that must answer; `nil` if any credential may answer.
    let credential: CredentialID?
    /// The client that began the ceremony, and the only client that may end it; `nil` if a browser
    /// or a device began the ceremony.
    let client: ClientID?
    package let createdAt: UnixTime
    /// The time from which an answer is refused.
    package let expiresAt: UnixTime

    /// The number of random bytes in a challenge (NIST SP 800-63B-4, section 3.1.6.2, requires 8).
    package static let byteCount = 32
    /// The lifetime of a challenge, in milliseconds: five minutes.
    package static let lifetime: Int64 = 300_000
    /// The lifetime of a challenge that a page requests before a person wants to sign in, in
    /// milliseconds: ten minutes.
    package static let conditionalLifetime: Int64 = 600_000
    private static let format: UInt8 = 1
}

extension Challenge {
    /// Whether an answer is in time.
    ///
    /// If the clock was set back, a challenge that begins in the future would stay open for longer
    /// than its lifetime, and is therefore refused; the clocks of two nodes may differ a little.
    func isOpen(at now: UnixTime) -> Bool {
        expiresAt > now && createdAt <= now.adding(milliseconds: Policy.clockSkew)
    }

    private var purpose: ChallengeRow.Purpose {
        switch content {
        case .assertion: .assertion
        case .signIn: .signIn
        case .confirmation: .confirm
        }
    }

    /// The row for the challenge in the database.
    package var row: ChallengeRow {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.writeOptional(client) { $0.write($1.bytes) }
        writer.write(expiresAt)
        switch content {
        case .assertion(let bytes, let relyingParty, let policy):
            writer.write(bytes)
            writer.write(relyingParty)
            policy.write(into: &writer)
        case .signIn: break
        case .confirmation(let textDigest): writer.write(textDigest)
        }
        precondition(
            writer.bytes.count <= ChallengeRow.maximumBodyCount, "a host name has 253 bytes at most"
        )
        return ChallengeRow(
            digest: digest, purpose: purpose, subject: subject, credential: credential,
            body: writer.bytes, createdAt: createdAt, expiresAt: expiresAt)
    }

    /// Reads a stored row.
    ///
    /// - Throws: ``VerifierError/damagedRow``.
    init(_ row: ChallengeRow) throws(VerifierError) {
        var reader = ByteReader(row.body)
        guard try reader.read(UInt8.self) == Self.format else { throw .damagedRow }
        client = try reader.readFlag() ? reader.readID() : nil
        guard try reader.readTime() == row.expiresAt else { throw .damagedRow }
        switch row.purpose {
        case .assertion:
            let bytes = try reader.readBytes()
            guard bytes.count == Self.byteCount else { throw .damagedRow }
            content = .assertion(
                bytes: bytes, relyingParty: try reader.readText(),
                policy: try PasskeyPolicy(from: &reader))
        case .signIn: content = .signIn
        case .confirm: content = .confirmation(textDigest: try reader.readBytes())
        }
        try reader.end()
        digest = row.digest
        subject = row.subject
        credential = row.credential
        createdAt = row.createdAt
        expiresAt = row.expiresAt
    }
}

/// The result of looking up a token.
package enum ChallengeFinding: Sendable {
    /// An open challenge, which the decision spends, whatever its outcome.
    case open(Challenge)
    /// An expired challenge, which the decision spends.
    case expired(Challenge)
    /// No challenge, or none for this purpose and this client; the decision spends nothing.
    case unknown
}

/// The parties that may answer a challenge; `nil` for each value that is not restricted.
package struct ChallengeAddressee: Sendable {
    let subject: Subject?
    let credential: CredentialID?
    let client: ClientID?

    package init(
        subject: Subject? = nil, credential: CredentialID? = nil, client: ClientID? = nil
    ) {
        self.subject = subject
        self.credential = credential
        self.client = client
    }
}

extension Verifier {
    /// Makes the challenge of a ceremony that begins now.
    ///
    /// - Returns: the token that identifies the ceremony, and the row to insert.
    package func newChallenge(
        _ kind: Token.Kind, _ content: Challenge.Content, for addressee: ChallengeAddressee,
        lifetime: Int64 = Challenge.lifetime, _ context: DecisionContext
    ) -> (token: Token, challenge: Challenge) {
        let token = Token(kind, context.randomSecret(kind.count))
        let challenge = Challenge(
            digest: digest(token, context), content: content, subject: addressee.subject,
            credential: addressee.credential, client: addressee.client, createdAt: context.now,
            expiresAt: context.now.adding(milliseconds: lifetime))
        return (token, challenge)
    }

    /// The challenge to which a token belongs, if this client began the ceremony, and the
    /// credential that answers the challenge.
    package func challenge(
        _ token: Token, for purpose: ChallengeRow.Purpose, by client: ClientID?,
        answeredBy credential: AnsweringCredential, _ context: DecisionContext
    ) async throws(VerifierError) -> (finding: ChallengeFinding, record: CredentialRecord?) {
        let digest = digest(token, context)
        let rows = try await VerifierError.store(
            in: await store.challenge(digest: digest, answeredBy: credential))
        let record = reachable(try decoded(rows.credential))
        guard let row = rows.challenge, row.purpose == purpose else { return (.unknown, record) }
        let challenge = try Challenge(row)
        // A ceremony that a different client began does not exist for this client, which therefore
        // cannot spend its challenge either.
        guard challenge.client == client else { return (.unknown, record) }
        return (
            challenge.isOpen(at: context.now) ? .open(challenge) : .expired(challenge), record
        )
    }
}
