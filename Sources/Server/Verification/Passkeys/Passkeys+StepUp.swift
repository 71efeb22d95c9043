extension Passkeys {
    /// The lifetime of an open step-up, in milliseconds: ten minutes.
    static let stepUpLifetime: Int64 = 600_000

    /// Records that the application obtained the second proof that an assertion needed.
    ///
    /// It works once, for the credential's last assertion, within ten minutes. What that assertion
    /// left open is then recorded: the device, the backup flags, and that the user was verified.
    public func completeStepUp(
        of credential: CredentialID, for verification: VerificationID, origin: Origin = .unknown,
        recorder: Recorder<ChangeOutcome>? = nil
    ) async throws(VerifierError) -> ChangeOutcome {
        try await verifier.decide(origin, recorder: recorder) { context throws(VerifierError) in
            let found = try await verifier.record(credential)
            func denied(_ outcome: ChangeOutcome, _ reason: Event.Reason) -> Decision<ChangeOutcome>
            {
                Decision(outcome: outcome, changes: []).counting(
                    context.unwritten(
                        .denied, reason, subject: found?.subject, credential: credential),
                    by: nil)
            }
            guard var record = found, record.state == .active,
                case .passkey(var state) = record.material
            else { return denied(.unknown, .unknown) }
            guard let use = state.stepUp, use.verification == verification else {
                return denied(.refused, .unknown)
            }
            guard context.now.milliseconds(since: use.time) < Self.stepUpLifetime else {
                return denied(.refused, .expired)
            }
            state.apply(use, at: context.now, verifies: true)
            record.material = .passkey(state)
            record.lastUsedAt = context.now
            return Decision(
                outcome: .done,
                changes: [
                    .updateCredential(record.row), context.event(.stepUpCompleted, of: record),
                ])
        }
    }
}
