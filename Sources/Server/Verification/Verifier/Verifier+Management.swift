extension Verifier {
    /// Ends a credential's wait.
    ///
    /// Failures stay counted, so that the overall limit holds. A disabled credential is not
    /// unlocked: it must be enrolled again.
    public func unlock(
        _ credential: CredentialID, origin: Origin = .unknown,
        recorder: Recorder<ChangeOutcome>? = nil
    ) async throws(VerifierError) -> ChangeOutcome {
        try await change(credential, origin, recorder) { record, _ in
            guard record.state != .disabled else { return .refused }
            guard record.throttle.wait > 0 else { return .unchanged }
            record.throttle.endWait()
            return .changed(.unlocked, nil)
        }
    }

    /// Renames a credential.
    ///
    /// The name has at most 256 bytes.
    public func rename(
        _ credential: CredentialID, to name: String, origin: Origin = .unknown,
        recorder: Recorder<ChangeOutcome>? = nil
    ) async throws(VerifierError) -> ChangeOutcome {
        try await change(credential, origin, recorder) { record, _ in
            guard name.utf8.count <= OneTimePasswordEnrolment.maximumTextCount else {
                return .refused
            }
            guard record.name != name else { return .unchanged }
            record.name = name
            return .changed(.renamed, nil)
        }
    }

    /// Revokes a credential at once, on every node.
    ///
    /// Its secrets are deleted, but its record is kept.
    public func revoke(
        _ credential: CredentialID, origin: Origin = .unknown,
        recorder: Recorder<ChangeOutcome>? = nil
    ) async throws(VerifierError) -> ChangeOutcome {
        try await change(credential, origin, recorder, ifRevoked: .done) { record, context in
            record.end(as: .revoked, because: .revoked, at: context.now)
            return .changed(.revoked, .revoked)
        }
    }

    /// Revokes all credentials of a subject, and tells its devices that the account is closed.
    ///
    /// - Returns: the number of credentials revoked.
    public func closeAccount(
        of subject: Subject, origin: Origin = .unknown
    ) async throws(VerifierError) -> Int {
        var count = 0
        while true {
            let records = try await records(of: subject)
            guard !records.isEmpty else { return count }
            for record in records {
                let outcome = try await change(record.id, origin, nil) { record, context in
                    record.end(as: .revoked, because: .accountClosed, at: context.now)
                    return .changed(.revoked, .accountClosed)
                }
                if outcome == .done { count += 1 }
            }
        }
    }

    /// The credentials that a subject has or had.
    ///
    /// The first page has all active or pending credentials, oldest first, followed by all disabled
    /// or expired credentials and then the revoked ones, each newest first. Later pages have
    /// further revoked credentials.
    ///
    /// - Parameters:
    ///   - time: ``CredentialPage/next`` of the previous page; `nil` for the first page.
    ///   - limit: the maximum number of revoked credentials on the page. If more than `limit` were
    ///     created in one millisecond, the page has all of them.
    public func credentials(
        of subject: Subject, revokedBefore time: UnixTime? = nil, limit: Int = 1_000
    ) async throws(VerifierError) -> CredentialPage {
        var records = time == nil ? try await records(of: subject) : []
        let now = now
        let isLive = { (record: CredentialRecord) in
            record.state != .disabled && !record.isLapsed(at: now)
        }
        records = records.filter(isLive) + records.reversed().filter { !isLive($0) }
        let (revoked, next) = try await revoked(
            of: subject, before: time ?? UnixTime(milliseconds: .max), limit: limit)
        for row in revoked { records.append(try CredentialRecord(row)) }
        let keys = await ring()
        var summaries: [CredentialSummary] = []
        for record in records { summaries.append(try record.summary(at: now, keys: keys)) }
        return CredentialPage(credentials: summaries, next: next)
    }

    /// Whether the subject has or had a confirmed credential, of any kind and in any state.
    ///
    /// The rows of ended recovery codes are deleted in time (``Policy/endedSetLifetime``).
    package func hasEverConfirmed(_ subject: Subject) async throws(VerifierError) -> Bool {
        try await hasEverConfirmed(subject, among: records(of: subject))
    }

    /// - Parameter records: the subject's credentials that are not revoked.
    func hasEverConfirmed(
        _ subject: Subject, among records: [CredentialRecord]
    ) async throws(VerifierError) -> Bool {
        var hasConfirmed = records.contains { $0.confirmedAt != nil }
        // The revoked credentials include those that were revoked after `records` was read.
        var before: UnixTime? = UnixTime(milliseconds: .max)
        while !hasConfirmed, let time = before {
            let (rows, next) = try await revoked(of: subject, before: time, limit: 100)
            for row in rows where !hasConfirmed {
                hasConfirmed = try CredentialRecord(row).confirmedAt != nil
            }
            before = next
        }
        return hasConfirmed
    }

    /// A page of revoked rows, and the position of the next page.
    ///
    /// Rows of one millisecond stay on one page, so that the time is a sufficient position.
    private func revoked(
        of subject: Subject, before time: UnixTime, limit: Int
    ) async throws(VerifierError) -> (rows: [CredentialRow], next: UnixTime?) {
        let rows = try await VerifierError.store(
            in: await store.credentials(.revoked(of: subject, before: time), limit: limit + 1))
        guard rows.count > limit, let beyond = rows.last?.createdAt else { return (rows, nil) }
        let page = rows.prefix { $0.createdAt > beyond }
        if let last = page.last { return (Array(page), last.createdAt) }
        return try await revoked(of: subject, before: time, limit: 2 * limit)
    }

    /// The facts about a credential that are not secret; `nil` if there is no credential with this
    /// id.
    public func credential(
        _ id: CredentialID
    ) async throws(VerifierError) -> CredentialSummary? {
        try await record(id)?.summary(at: now, keys: await ring())
    }

    /// Events after `position`, in order of position.
    public func events(
        after position: UInt64, limit: Int
    ) async throws(VerifierError) -> [ChainedEvent] {
        try await eventPage(after: position, limit: limit).events
    }

    /// The start and head of each node's chain.
    package func chains() async throws(VerifierError) -> [ChainRecord] {
        try await VerifierError.store(in: await store.chains())
    }

    /// Deletes everything that has expired, provided that the events confirm the clock.
    ///
    /// Call this method regularly.
    ///
    /// - Parameter eventLifetime: milliseconds for which events are kept; `nil` keeps all events.
    public func prune(
        keepingEventsFor eventLifetime: Int64? = nil
    ) async throws(VerifierError) -> PruningOutcome {
        let (now, key) = (now, await ring().auditKey)
        return try await VerifierError.store(
            in: await store.pruneAll(
                store.pruning(at: now, keepingEventsFor: eventLifetime, key: key)))
    }

    /// The result of an administrator's change.
    enum Change: Sendable {
        case changed(Event.Kind, Event.Reason?)
        case unchanged
        case refused
    }

    /// Changes one credential that is not revoked.
    func change(
        _ credential: CredentialID, _ origin: Origin, _ recorder: Recorder<ChangeOutcome>?,
        ifRevoked: ChangeOutcome = .unknown,
        _ body: (inout CredentialRecord, DecisionContext) -> Change
    ) async throws(VerifierError) -> ChangeOutcome {
        try await decide(origin, recorder: recorder) { context throws(VerifierError) in
            guard var record = try await record(credential) else {
                return Decision(outcome: .unknown, changes: [])
            }
            guard record.state != .revoked else {
                return Decision(outcome: ifRevoked, changes: [])
            }
            switch body(&record, context) {
            case .refused: return Decision(outcome: .refused, changes: [])
            case .unchanged: return Decision(outcome: .done, changes: [])
            case .changed(let kind, let reason):
                let changes =
                    record.state == .revoked
                    ? record.changesAtEnd : [.updateCredential(record.row)]
                return Decision(
                    outcome: .done, changes: changes + [context.event(kind, reason, of: record)])
            }
        }
    }
}
