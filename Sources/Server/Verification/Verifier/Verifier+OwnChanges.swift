// Changes that users make without an administrator. A decision about one credential depends on the
// subject's other credentials, and programs can request several changes at the same moment. Each
// decision therefore also writes the row whose change would contradict the decision: all but one of
// the commits then conflict, and are decided again.

extension Verifier {
    /// Confirms a pending credential like ``confirm(_:code:origin:recorder:)``, but only as the
    /// subject's first credential.
    ///
    /// For a subject that has or had a confirmed credential, of any kind, the pending credential
    /// counts as unknown.
    package func confirmFirst(
        _ credential: CredentialID, of subject: Subject, code: PresentedCode,
        origin: Origin = .unknown
    ) async throws(VerifierError) -> VerificationOutcome {
        try await decide(origin, recorder: nil) { context throws(VerifierError) in
            let records = try await records(of: subject)
            let isFirst = try await !hasEverConfirmed(subject, among: records)
            let attempt = CodeAttempt(
                code: code, purpose: .confirmation, counter: nil, hashes: [:], context: context)
            var decision = try attempt.decide(
                isFirst ? records.filter { $0.id == credential } : [], subject: subject,
                credential: credential)
            if case .accepted = decision.outcome.result {
                let others = records.filter { $0.id != credential && $0.state == .pending }
                decision.changes += others.map { .updateCredential($0.row) }
            }
            return decision
        }
    }

    /// Revokes a credential like ``revoke(_:origin:recorder:)``, unless the credential is the
    /// subject's last working authenticator.
    package func revoke(
        _ credential: CredentialID, keepingAuthenticatorOf subject: Subject,
        origin: Origin = .unknown
    ) async throws(VerifierError) -> ChangeOutcome {
        try await decide(origin, recorder: nil) { context throws(VerifierError) in
            let records = try await records(of: subject)
            guard var record = records.first(where: { $0.id == credential }) else {
                return Decision(outcome: .unknown, changes: [])
            }
            let works = { (record: CredentialRecord) in
                record.state == .active && record.isOneTimePassword
            }
            let kept = records.first { $0.id != credential && works($0) }
            guard kept != nil || !works(record) else {
                return Decision(outcome: .refused, changes: [])
            }
            record.end(as: .revoked, because: .revoked, at: context.now)
            var changes = record.changesAtEnd + [context.event(.revoked, .revoked, of: record)]
            if let kept { changes.append(.updateCredential(kept.row)) }
            return Decision(outcome: .done, changes: changes)
        }
    }
}
