internal import WatchwordCryptography

// Denials, and what they change.
extension LoginAttempt {
    /// Denies a request for a credential that is not active.
    ///
    /// Only a holder of its secret learns that a credential was revoked.
    func refuse(
        _ record: CredentialRecord?, _ derivation: SecretDerivation
    ) -> Decision<LoginOutcome> {
        let wasIssued = derivation.wasIssued(secret)
        // Does the work of checking a wrong secret, so that the response time does not reveal that
        // the credential is unknown.
        _ = derivation.digest(of: secret, under: context.keys.current)
        var wipe: WipeReason?
        if wasIssued, let record, record.state == .revoked {
            wipe = WipeReason(record.endReason)
        }
        var others: [Event] = []
        if wipe != nil {
            others.append(
                context.unwritten(
                    .wiped, record?.endReason, subject: record?.subject, credential: credential))
        }
        let event = context.unwritten(
            .denied, record?.state == .revoked ? .revoked : .unknown, subject: record?.subject,
            credential: credential)
        return Decision(
            outcome: outcome(.denied(wipe: wipe)), changes: [.writeDummy(context.dummy())],
            recordsResponse: false
        ).counting(event, others, by: sender(isHolder: wasIssued))
    }

    /// The sender that a denial is counted for.
    func sender(isHolder: Bool) -> DenialCounter.Sender? {
        guard let stranger = DenialCounter.Sender(strangerAt: context.origin) else { return nil }
        return isHolder ? .holder(credential) : stranger
    }

    /// Denies the secret without changing the credential, so this attempt does not affect the next
    /// one.
    func deny(
        _ record: CredentialRecord, because reason: Event.Reason, to sender: DenialCounter.Sender?
    ) -> Decision<LoginOutcome> {
        Decision(
            outcome: outcome(.denied(wipe: nil)), changes: [.writeDummy(context.dummy())],
            recordsResponse: false
        ).counting(
            context.unwritten(
                .denied, reason, subject: record.subject, credential: record.id),
            by: sender)
    }

    /// Counts a wrong secret.
    ///
    /// The last permitted failure revokes the credential.
    func fail(
        _ record: CredentialRecord, _ chain: SecretChain
    ) -> Decision<LoginOutcome> {
        var record = record
        var chain = chain
        chain.failures += 1
        guard chain.failures < Policy.secretFailures else {
            return revoke(record, because: .tooManyFailures, wipe: .tooManyFailures)
        }
        record.material = .secret(chain)
        return Decision(
            outcome: outcome(.denied(wipe: nil)),
            changes: [
                .updateCredential(record.row), context.event(.denied, .wrong, of: record),
            ])
    }

    /// Revokes the credential.
    ///
    /// After this commit, the secrets and login tickets of all holders are refused.
    func revoke(
        _ record: CredentialRecord, because reason: Event.Reason, wipe: WipeReason?
    ) -> Decision<LoginOutcome> {
        var record = record
        record.end(as: .revoked, because: reason, at: context.now)
        var changes = record.changesAtEnd
        changes.append(context.event(.denied, reason, of: record))
        changes.append(context.event(.revoked, reason, of: record))
        if wipe != nil { changes.append(context.event(.wiped, reason, of: record)) }
        return Decision(outcome: outcome(.denied(wipe: wipe)), changes: changes)
    }
}
