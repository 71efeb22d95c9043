public import Verification
internal import WatchwordCryptography

extension Passkeys {
    /// Begins a ceremony in which a passkey signs in.
    ///
    /// - Parameters:
    ///   - subject: whose passkey has to sign; `nil` if the passkey identifies the subject. An
    ///     unknown subject gets options like a known one, the same each time.
    ///   - relyingPartyID: one of the relying party's IDs, which is the page's host or a parent
    ///     domain of it; `nil` for the first one.
    ///   - isConditional: whether the page waits until somebody signs in (conditional mediation).
    ///   - client: the only client that may finish the ceremony; `nil` for a browser.
    public func beginAuthentication(
        for subject: Subject?, at relyingPartyID: String? = nil,
        policy: PasskeyPolicy = .standard, isConditional: Bool = false,
        by client: ClientID? = nil, origin: Origin = .unknown,
        recorder: Recorder<PasskeyCeremony>? = nil
    ) async throws(VerifierError) -> PasskeyCeremony {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            let lifetime = isConditional ? Challenge.conditionalLifetime : Challenge.lifetime
            let id = relyingParty.checkedID(relyingPartyID)
            let bytes = context.randomBytes(Challenge.byteCount)
            let (token, challenge) = try verifier.newChallenge(
                .ceremony, .assertion(bytes: bytes, relyingParty: id, policy: policy),
                subject: subject, credential: nil, client: client, lifetime: lifetime, context)
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
