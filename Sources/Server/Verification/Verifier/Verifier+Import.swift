internal import WatchwordCryptography

extension Verifier {
    /// Imports an existing key of a subject.
    ///
    /// The outcome does not contain the key, so a recorded response stays available for a day.
    public func importOneTimePassword(
        _ given: OneTimePasswordImport, for subject: Subject, origin: Origin = .unknown,
        recorder: Recorder<ImportOutcome>? = nil
    ) async throws(VerifierError) -> ImportOutcome {
        try await decide(origin, recorder: recorder) { context throws(VerifierError) in
            let fingerprints = fingerprints(of: given.key, given.algorithm, context)
            switch try await keyState(fingerprints, context) {
            case .free: break
            case .inUse(let record):
                return Decision(outcome: record.outcome(ofImportFor: subject), changes: [])
            case .released: return nil
            }
            let room = makingRoom(
                for: subject, among: try await records(of: subject), context)
            guard let room else { return Decision(outcome: .refused(.tooMany), changes: []) }
            guard !given.isUsedInFuture(context.now, policy.profile) else {
                var decision = Decision(
                    outcome: ImportOutcome.refused(.usedInFuture), changes: [])
                // The same request may succeed later.
                decision.recordsResponse = false
                return decision
            }
            let record = record(of: given, subject, fingerprints[0], context)
            return Decision(
                outcome: .imported(record.id, expiresAt: record.lapsesAt),
                changes: room + [
                    .insertCredential(record.row),
                    context.event(
                        given.isConfirmed ? .imported : .importStarted,
                        record.hasShortKey ? .shortKey : nil, of: record),
                ])
        }
    }

    /// The outcomes that these imports would have in sequence.
    ///
    /// Nothing is changed, and the ids of credentials that would be created are not final.
    public func rehearse(
        _ imports: [(given: OneTimePasswordImport, subject: Subject)]
    ) async throws(VerifierError) -> [ImportOutcome] {
        let context = await context(.unknown)
        var outcomes: [ImportOutcome] = []
        var added: [[UInt8]: CredentialRecord] = [:]
        var counts: [Subject: Int] = [:]
        for (given, subject) in imports {
            let fingerprints = fingerprints(of: given.key, given.algorithm, context)
            var owner = fingerprints.lazy.compactMap { added[$0] }.first
            for fingerprint in fingerprints where owner == nil {
                let record = try await record(fingerprint: fingerprint)
                owner = record.flatMap { $0.isLapsed(at: context.now) ? nil : $0 }
            }
            if counts[subject] == nil {
                // If there is no room, an import ends an unfinished registration.
                counts[subject] = try await records(of: subject).count { $0.state != .pending }
            }
            let count = counts[subject, default: 0]
            if let owner {
                outcomes.append(owner.outcome(ofImportFor: subject))
            } else if count >= policy.maximumCredentials {
                outcomes.append(.refused(.tooMany))
            } else if given.isUsedInFuture(context.now, policy.profile) {
                outcomes.append(.refused(.usedInFuture))
            } else {
                let record = record(of: given, subject, fingerprints[0], context)
                added[fingerprints[0]] = record
                if given.isConfirmed { counts[subject] = count + 1 }
                outcomes.append(.imported(record.id, expiresAt: record.lapsesAt))
            }
        }
        return outcomes
    }

    private func record(
        of given: OneTimePasswordImport, _ subject: Subject, _ fingerprint: [UInt8],
        _ context: DecisionContext
    ) -> CredentialRecord {
        let factor = given.factor.enrolled
        var record = newRecord(
            factor.kind, subject, name: given.name,
            state: given.isConfirmed ? .active : .pending, context)
        if given.isConfirmed { record.confirmedAt = context.now }
        record.fingerprint = fingerprint
        record.keyID = context.keys.current.id
        let parameters = SealedSeed.Parameters(
            algorithm: given.algorithm, digits: given.digits, period: factor.period)
        record.material = factor.material(
            SealedSeed(
                sealing: given.key, parameters, for: record.place, under: context.keys.current))
        if case .time(_, let lastUsedStep?) = given.factor,
            case .time(var password) = record.material
        {
            password.spend(through: lastUsedStep)
            record.material = .time(password)
        }
        return record
    }
}

extension OneTimePasswordImport {
    /// Whether the last used step is beyond the window, so that the authenticator's next codes
    /// would be refused.
    fileprivate func isUsedInFuture(_ now: UnixTime, _ profile: WindowProfile) -> Bool {
        guard case .time(let period, let lastUsedStep?) = factor else { return false }
        guard let step = now.step(ofPeriod: period) else { return true }
        return lastUsedStep > step.advanced(byChecking: profile.ahead) ?? .max
    }
}

extension CredentialRecord {
    /// The outcome of importing this credential's key again.
    fileprivate func outcome(ofImportFor subject: Subject) -> ImportOutcome {
        let isLive = state == .pending || state == .active
        return isLive && self.subject == subject ? .present(id) : .refused(.keyInUse)
    }
}
