internal import WatchwordCryptography

/// A secret that a device presents, and the data needed to check it.
struct LoginAttempt: Sendable {
    let credential: CredentialID
    let secret: SecretParts
    /// SHA-256 of the rotation nonce.
    let nonceDigest: [UInt8]
    let context: DecisionContext

    /// The class of a presented secret: a row of the table “Rotation” in EnrolledSecrets.md.
    enum Finding: Hashable, Sendable {
        /// The current secret, before a successor was issued.
        case current
        /// The current secret with the nonce of the issued successor: the response was lost.
        case again
        /// The successor, which becomes the current secret.
        case successor
        /// The current secret with a different nonce, or an earlier secret: two holders have the
        /// secret.
        case reuse
        /// A secret of a later generation than the row's: the database has lost the commit that
        /// issued the secret.
        case later
        /// A secret that was never issued for this credential.
        case foreign
    }

    /// Decides on the secret; `record` is the credential's record, if there is one.
    func decide(_ record: CredentialRecord?) throws(VerifierError) -> Decision<LoginOutcome> {
        let derivation = SecretDerivation(
            credential: credential, lookup: context.keys.lookup, meter: context.meter)
        guard let record, record.kind == .secret, case .secret(let chain) = record.material,
            record.state == .active
        else { return refuse(record, derivation) }
        let key = try context.key(record.keyID)
        let wasIssued = derivation.wasIssued(secret)
        let digest = derivation.digest(of: secret, under: key)
        let generation = wasIssued ? secret.generation : nil
        let finding = chain.finding(digest, nonceDigest: nonceDigest, handedOutAs: generation)
        switch finding {
        // Only the clock shows that the secret has expired, and the clock may be wrong, so nothing
        // is revoked. The same applies to reuse: a device whose new secret is denied falls back to
        // the previous secret.
        case .current, .again, .successor, .reuse:
            if let reason = chain.expiry(at: context.now, policy: context.policy) {
                return deny(record, because: reason, to: sender(isHolder: wasIssued))
            }
        case .later, .foreign: break
        }
        switch finding {
        case .current: return accept(record, chain, derivation)
        case .again: return try recomputeResponse(record, chain, key, derivation)
        case .successor:
            var next = chain
            next.generation += 1
            return accept(record, next, derivation)
        case .reuse: return revoke(record, because: .reuseDetected, wipe: .reuseDetected)
        // The missing commits may still be restored, and only a holder has such a secret.
        case .later:
            return deny(record, because: .wrong, to: sender(isHolder: wasIssued))
        case .foreign:
            return context.policy.countsForeignSecrets
                ? fail(record, chain)
                : deny(record, because: .wrong, to: sender(isHolder: false))
        }
    }

    private func accept(
        _ record: CredentialRecord, _ chain: SecretChain, _ derivation: SecretDerivation
    ) -> Decision<LoginOutcome> {
        // The following code uses only the current key: this is how digests move to a new key.
        let key = context.keys.current
        let generation = chain.generation + 1
        let next = derivation.secret(generation: generation, nonceDigest: nonceDigest, under: key)
        let login = derivation.login(
            verification: context.verification, nonceDigest: nonceDigest, under: key)
        var record = record
        var chain = chain
        let isFirst = chain.handedOut == nil
        chain.digest = derivation.digest(of: secret, under: key)
        chain.handedOut = SecretChain.Issued(
            digest: derivation.digest(of: next, under: key),
            nonceDigest: nonceDigest, verification: context.verification, time: context.now)
        chain.open(context.verification)
        chain.usedAt = context.now
        chain.failures = 0
        record.material = .secret(chain)
        record.keyID = key.id
        record.lastUsedAt = context.now
        let expiresAt = context.now.adding(milliseconds: Policy.loginLifetime)
        let ticket = TicketRow(
            digest: context.keys.lookup.digest(of: login.bytes, as: .loginTicket),
            purpose: .login, credential: credential, subject: record.subject,
            verification: context.verification, createdAt: context.now, expiresAt: expiresAt)
        var changes: [StoreChange] = [
            .updateCredential(record.row), .insertTicket(ticket),
            context.event(.accepted, of: record),
        ]
        // The first use of a secret confirms that the device has received the enrolment's response.
        if isFirst { changes.append(.endAnswers(of: record.id)) }
        return Decision(
            outcome: outcome(
                .accepted(
                    LoginOutcome.Acceptance(
                        login: login, expiresAt: expiresAt, secret: next.token,
                        generation: generation))),
            changes: changes, secretsOf: record.id)
    }

    /// Computes the earlier response again from stored values, because the response itself is not
    /// stored.
    private func recomputeResponse(
        _ record: CredentialRecord, _ chain: SecretChain, _ key: KeyVersion,
        _ derivation: SecretDerivation
    ) throws(VerifierError) -> Decision<LoginOutcome> {
        guard let handedOut = chain.handedOut else { throw .damagedRow }
        let generation = chain.generation + 1
        let next = derivation.secret(generation: generation, nonceDigest: nonceDigest, under: key)
        let login = derivation.login(
            verification: handedOut.verification, nonceDigest: nonceDigest, under: key)
        let acceptance = LoginOutcome.Acceptance(
            login: login,
            expiresAt: handedOut.time.adding(milliseconds: Policy.loginLifetime),
            secret: next.token, generation: generation)
        return Decision(
            outcome: LoginOutcome(
                verification: handedOut.verification, result: .accepted(acceptance)),
            // Nothing is written to the row, so that repetitions do not conflict with each other.
            // If the credential is revoked in the meantime, so are the secrets in the response.
            changes: [context.event(.repeated, of: record)], secretsOf: record.id)
    }

    func outcome(_ result: LoginOutcome.Result) -> LoginOutcome {
        LoginOutcome(verification: context.verification, result: result)
    }
}

// The denials, and the changes that they make.
extension LoginAttempt {
    /// Denies a request for a credential that is not active.
    ///
    /// Only a holder of its secret learns that a credential was revoked.
    func refuse(
        _ record: CredentialRecord?, _ derivation: SecretDerivation
    ) -> Decision<LoginOutcome> {
        let wasIssued = derivation.wasIssued(secret)
        // Does the work of checking a wrong secret, so that the response time does not reveal an
        // unknown credential.
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

    /// The sender to which a denial is attributed.
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

/// The outcome of a login with an enrolled secret.
public struct LoginOutcome: Sendable {
    /// The id of the decision; a repeated response has the same id.
    public let verification: VerificationID
    /// Whether the secret was accepted.
    public let result: Result

    /// Whether the secret was accepted.
    public enum Result: Sendable {
        /// The secret was correct, and is spent.
        case accepted(Acceptance)
        /// The secret was denied.
        ///
        /// If a reason to wipe is given, the device deletes its secret.
        case denied(wipe: WipeReason?)
    }

    /// The response to a device whose secret was accepted.
    public struct Acceptance: Sendable {
        /// The ticket with which the application learns who signed in.
        public let login: Token
        /// The end of the ticket's lifetime.
        public let expiresAt: UnixTime
        /// The secret for the next login.
        public let secret: Token
        /// The generation of the next secret.
        public let generation: UInt64
    }
}

/// The reason for which a device must delete its secret.
///
/// A device ignores any other reason.
public enum WipeReason: String, CaseIterable, Hashable, Sendable {
    /// The credential was revoked.
    case revoked
    /// Reuse was detected: two holders have the secret.
    case reuseDetected = "reuse-detected"
    /// Three consecutive attempts presented a wrong secret.
    case tooManyFailures = "too-many-failures"
    /// The subject's account is closed.
    case accountClosed = "account-closed"
}

/// The 16 fresh random bytes that a device stores before it presents a secret.
///
/// The next secret is derived from the nonce, so that only the device that sent a request can get a
/// lost response again.
public struct RotationNonce: Hashable, Sendable {
    /// The 16 bytes of the nonce.
    public let bytes: [UInt8]

    /// The number of bytes in a nonce.
    public static let count = 16

    /// Accepts exactly 16 bytes, and returns `nil` for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }
}

extension WipeReason {
    /// The reason to report to a device, given the reason why its credential ended.
    init(_ reason: Event.Reason?) {
        switch reason {
        case .reuseDetected: self = .reuseDetected
        case .tooManyFailures: self = .tooManyFailures
        case .accountClosed: self = .accountClosed
        default: self = .revoked
        }
    }
}
