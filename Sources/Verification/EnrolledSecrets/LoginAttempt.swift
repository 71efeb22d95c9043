internal import Cryptography

/// A secret that a device presents, and everything it is to be checked with.
struct LoginAttempt: Sendable {
    let credential: CredentialID
    let secret: PresentedSecret
    /// SHA-256 of the rotation nonce.
    let nonceDigest: [UInt8]
    let context: DecisionContext

    /// What a presented secret is, row by row of the table in the design, section 5.1.
    enum Finding: Hashable, Sendable {
        /// The current secret, and no successor was handed out yet.
        case current
        /// The current secret with the nonce that the successor was handed out for: a lost reply.
        case again
        /// The successor, which thereby takes its predecessor's place.
        case successor
        /// The current secret with another nonce, or an earlier one: two have it.
        case reuse
        /// One of a later generation than the row knows: the database has lost the commit that handed it out.
        case later
        /// None that was ever handed out for this credential.
        case foreign
    }

    /// Decides on the secret for the row that the credential has, if it has one.
    func decide(_ record: CredentialRecord?) throws(VerifierError) -> Decision<LoginOutcome> {
        let derivation = SecretDerivation(
            credential: credential, lookup: context.keys.lookup, meter: context.meter)
        guard let record, record.kind == .secret, case .secret(let chain) = record.material,
            record.state == .active
        else { return try refuse(record, derivation) }
        let key = try context.key(record.keyID)
        let wasHandedOut = try deciding { () throws(CryptographyFailure) in
            try derivation.wasHandedOut(secret)
        }
        let digest = try deciding { () throws(CryptographyFailure) in
            try derivation.digest(of: secret, under: key)
        }
        let generation = wasHandedOut ? secret.generation : nil
        let finding = chain.finding(digest, nonceDigest: nonceDigest, handedOutAs: generation)
        switch finding {
        // The clock alone says that it has had its time, and a clock can be put right: nothing ends. Not for
        // reuse either: a device whose successor is denied asks with the secret before it.
        case .current, .again, .successor, .reuse:
            if let reason = chain.expiry(at: context.now, policy: context.policy) {
                return deny(record, because: reason, to: sender(isHolder: wasHandedOut))
            }
        case .later, .foreign: break
        }
        switch finding {
        case .current: return try accept(record, chain, derivation)
        case .again: return try answerAgain(record, chain, key, derivation)
        case .successor:
            var next = chain
            next.generation += 1
            return try accept(record, next, derivation)
        case .reuse: return revoke(record, because: .reuseDetected, wipe: .reuseDetected)
        // The right database may yet take this one's place, and nobody but a holder has such a secret.
        case .later:
            return deny(record, because: .wrong, to: sender(isHolder: wasHandedOut))
        case .foreign:
            return context.policy.countsForeignSecrets
                ? fail(record, chain)
                : deny(record, because: .wrong, to: sender(isHolder: false))
        }
    }

    /// There is no such credential in use; one that is revoked tells so to who had its secret, and
    /// to nobody else.
    private func refuse(
        _ record: CredentialRecord?, _ derivation: SecretDerivation
    ) throws(VerifierError) -> Decision<LoginOutcome> {
        let wasHandedOut = try deciding { () throws(CryptographyFailure) in
            try derivation.wasHandedOut(secret)
        }
        // The work of a wrong secret, so that the time does not tell an unknown credential.
        _ = try deciding { () throws(CryptographyFailure) in
            try derivation.digest(of: secret, under: context.keys.current)
        }
        var wipe: WipeReason?
        if wasHandedOut, let record, record.state == .revoked {
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
            outcome: outcome(.denied(wipe: wipe)), changes: [.writeDecoy(context.decoy())],
            keepsAnswer: false
        ).counting(event, others, by: sender(isHolder: wasHandedOut))
    }

    /// By whom a denial is counted.
    private func sender(isHolder: Bool) -> DenialBook.Sender? {
        guard let stranger = DenialBook.Sender(strangerAt: context.origin) else { return nil }
        return isHolder ? .holder(credential) : stranger
    }

    private func accept(
        _ record: CredentialRecord, _ chain: SecretChain, _ derivation: SecretDerivation
    ) throws(VerifierError) -> Decision<LoginOutcome> {
        // From here on everything hangs on the current key: this is how digests move to a new one.
        let key = context.keys.current
        let generation = chain.generation + 1
        let next = try deciding { () throws(CryptographyFailure) in
            try derivation.secret(generation: generation, nonceDigest: nonceDigest, under: key)
        }
        let login = try deciding { () throws(CryptographyFailure) in
            try derivation.login(
                verification: context.verification, nonceDigest: nonceDigest, under: key)
        }
        var record = record
        var chain = chain
        let isFirst = chain.handedOut == nil
        chain.digest = try deciding { () throws(CryptographyFailure) in
            try derivation.digest(of: secret, under: key)
        }
        chain.handedOut = SecretChain.HandedOut(
            digest: try deciding { () throws(CryptographyFailure) in
                try derivation.digest(of: next, under: key)
            },
            nonceDigest: nonceDigest, verification: context.verification, time: context.now)
        chain.open(context.verification)
        chain.usedAt = context.now
        chain.failures = 0
        record.material = .secret(chain)
        record.keyID = key.id
        record.lastUsedAt = context.now
        let expiresAt = context.now.adding(milliseconds: Policy.loginLifetime)
        let ticket = TicketRow(
            digest: try deciding { () throws(CryptographyFailure) in
                try context.keys.lookup.digest(of: login.bytes, as: .loginTicket)
            },
            purpose: .login, credential: credential, subject: record.subject,
            verification: context.verification, createdAt: context.now, expiresAt: expiresAt)
        var changes: [StoreChange] = [
            .updateCredential(record.row), .insertTicket(ticket),
            context.event(.accepted, of: record),
        ]
        // Who uses its first secret has got what the enrolment handed out.
        if isFirst { changes.append(.endAnswers(of: record.id)) }
        return Decision(
            outcome: outcome(
                .accepted(
                    LoginOutcome.Acceptance(
                        login: login, expiresAt: expiresAt, secret: next.token,
                        generation: generation))),
            changes: changes, secretsOf: record.id)
    }

    /// The same answer as before, made again from what was stored of it: nothing of it is kept.
    private func answerAgain(
        _ record: CredentialRecord, _ chain: SecretChain, _ key: KeyVersion,
        _ derivation: SecretDerivation
    ) throws(VerifierError) -> Decision<LoginOutcome> {
        guard let handedOut = chain.handedOut else { throw .damagedRow }
        let generation = chain.generation + 1
        let next = try deciding { () throws(CryptographyFailure) in
            try derivation.secret(generation: generation, nonceDigest: nonceDigest, under: key)
        }
        let login = try deciding { () throws(CryptographyFailure) in
            try derivation.login(
                verification: handedOut.verification, nonceDigest: nonceDigest, under: key)
        }
        let acceptance = LoginOutcome.Acceptance(
            login: login,
            expiresAt: handedOut.time.adding(milliseconds: Policy.loginLifetime),
            secret: next.token, generation: generation)
        return Decision(
            outcome: LoginOutcome(
                verification: handedOut.verification, result: .accepted(acceptance)),
            // On condition that it was not revoked meanwhile.
            changes: [.updateCredential(record.row), context.event(.repeated, of: record)],
            secretsOf: record.id)
    }

    /// Denies, and changes nothing: the next attempt is decided as if this one had not been.
    private func deny(
        _ record: CredentialRecord, because reason: Event.Reason, to sender: DenialBook.Sender?
    ) -> Decision<LoginOutcome> {
        Decision(
            outcome: outcome(.denied(wipe: nil)), changes: [.writeDecoy(context.decoy())],
            keepsAnswer: false
        ).counting(
            context.unwritten(
                .denied, reason, subject: record.subject, credential: record.id),
            by: sender)
    }

    /// Counts a secret that is not accepted; the last one that is allowed ends the credential.
    private func fail(
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

    /// Ends the credential: both holders' secrets are worth nothing from this commit on, and so are
    /// the login tickets that they got for them.
    private func revoke(
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

    private func outcome(_ result: LoginOutcome.Result) -> LoginOutcome {
        LoginOutcome(verification: context.verification, result: result)
    }
}

extension SecretChain {
    /// Which of the chain's secrets has this digest.
    ///
    /// - Parameter presentedGeneration: the generation that the server's mark vouches for; nothing for a
    ///   secret without such a mark.
    func finding(
        _ presented: [UInt8], nonceDigest: [UInt8], handedOutAs presentedGeneration: UInt64?
    ) -> LoginAttempt.Finding {
        let isCurrent = isEqualInConstantTime(presented.span, digest.span)
        if let handedOut {
            let isSuccessor = isEqualInConstantTime(presented.span, handedOut.digest.span)
            let isSameNonce = isEqualInConstantTime(nonceDigest.span, handedOut.nonceDigest.span)
            if isCurrent { return isSameNonce ? .again : .reuse }
            if isSuccessor { return .successor }
        } else if isCurrent {
            return .current
        }
        guard let presentedGeneration else { return .foreign }
        let newest = handedOut == nil ? generation : generation + 1
        return presentedGeneration > newest ? .later : .reuse
    }

    /// Why the chain has had its time, if it has.
    func expiry(at now: UnixTime, policy: Policy) -> Event.Reason? {
        if now.milliseconds(since: enrolledAt) >= policy.absoluteLifetime { return .tooOld }
        if now.milliseconds(since: usedAt) >= policy.idleLifetime { return .idle }
        return nil
    }
}

extension WipeReason {
    /// What a device is told of a credential that ended.
    init(_ reason: Event.Reason?) {
        switch reason {
        case .reuseDetected: self = .reuseDetected
        case .tooManyFailures: self = .tooManyFailures
        case .accountClosed: self = .accountClosed
        default: self = .revoked
        }
    }
}
