public import Verification
internal import WatchwordCryptography

/// A request for a ceremony in which a passkey signs in.
public struct CeremonyRequest: Sendable {
    let subject: Subject?
    let relyingPartyID: String?
    let policy: PasskeyPolicy
    let isConditional: Bool
    let client: ClientID?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - subject: whose passkey has to sign; `nil` if the passkey identifies the subject. An
    ///     unknown subject gets options like a known one, the same each time.
    ///   - relyingPartyID: one of the relying party's IDs, which is the page's host or a parent
    ///     domain of it; `nil` for the first one.
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
                lifetime: lifetime,
                context)
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

    /// The passkeys of a subject; for one without any, a dummy that is always the same.
    private func allowed(
        for subject: Subject?, at id: String, _ context: DecisionContext
    ) async throws(VerifierError) -> [PasskeyDescriptor] {
        guard let subject else { return [] }
        let found = try descriptors(of: try await verifier.records(of: subject), at: id, context)
        let made = context.keys.lookup.madeUpPasskey(of: subject, for: id)
        return found.isEmpty ? [made] : found
    }
}
