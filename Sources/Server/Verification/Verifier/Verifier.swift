internal import Synchronization
internal import WatchwordCryptography

/// The entry point of the module: verifies codes and secrets, each of which is valid once, and
/// manages credentials.
///
/// Every decision is one commit to the store, which succeeds only if the rows have not changed
/// since they were read. A verifier that loses a race decides again. A response is returned only
/// after the commit is durable. Any number of verifiers, in any number of processes, can therefore
/// use the same store. No state that decisions depend on is kept in memory.
public struct Verifier: Sendable {
    let store: any VerificationStore
    let policy: Policy
    private let clock: @Sendable () -> UnixTime
    private let randomness: RandomSource
    private let keys: @Sendable () async -> KeyRing
    let hashing = RecoveryHashing()
    let denials = DenialCounter()
    let uncheckedDenials = DenialCounter(limit: .max)
    let unmarkedKeys = UnmarkedKeys()
    var challenges = ChallengeRegister()
    private let committed = EventCounts()
    /// Counts the work of decisions; `nil` except in tests.
    var meter: WorkMeter?
    /// The subjects that the caller is limited to; `nil` for all.
    var limit: SubjectPrefix?

    /// The maximum number of attempts to commit a decision.
    private static let maximumRounds = 200

    /// Takes the store, and the sources of time, randomness and keys.
    ///
    /// - Parameters:
    ///   - clock: the time of day, from a source that no client can influence.
    ///   - keys: the key ring, read at each decision, so that it can change while the verifier is
    ///     in use.
    public init(
        store: any VerificationStore, policy: Policy = .standard,
        randomness: RandomSource = .system,
        clock: @escaping @Sendable () -> UnixTime, keys: @escaping @Sendable () async -> KeyRing
    ) {
        self.store = store
        self.policy = policy
        self.clock = clock
        self.randomness = randomness
        self.keys = keys
    }

    /// Takes a store and a key ring that does not change.
    public init(
        store: any VerificationStore, keys: KeyRing, policy: Policy = .standard,
        randomness: RandomSource = .system, clock: @escaping @Sendable () -> UnixTime
    ) {
        self.init(
            store: store, policy: policy, randomness: randomness, clock: clock, keys: { keys })
    }

    var now: UnixTime { clock() }

    func ring() async -> KeyRing { await keys() }

    /// The context for a decision that starts now.
    package func context(_ origin: Origin) async -> DecisionContext {
        let bytes = randomness.bytes(VerificationID.count)
        guard let verification = VerificationID(bytes: bytes) else {
            preconditionFailure("a random source must return the requested number of bytes")
        }
        return DecisionContext(
            now: clock(), policy: policy, keys: await keys(), verification: verification,
            origin: origin, randomness: randomness, meter: meter)
    }

    /// Reads, decides and commits, and starts again after a lost race.
    ///
    /// The response is recorded in the same commit, if requested.
    ///
    /// - Parameters:
    ///   - end: the time until which a recorded response that contains secrets is returned.
    ///   - decidesAnew: whether a request is decided again if its recorded response has been
    ///     deleted.
    ///   - body: reads and decides; returns `nil` to start again.
    package func decide<Outcome: Sendable>(
        _ origin: Origin, recorder: Recorder<Outcome>?,
        answeringUntil end: AnswerEnd = .confirmation, decidingAfterEnd decidesAnew: Bool = false,
        _ body: (DecisionContext) async throws(VerifierError) -> Decision<Outcome>?
    ) async throws(VerifierError) -> Outcome {
        for round in 0..<Self.maximumRounds {
            let context = await context(origin)
            if round > 2 { await Self.pause(round, context.verification) }
            let recorded = try await recorded(recorder?.key, until: end, context)
            if let recorded, recorded.answer != nil || !decidesAnew { throw .answered(recorded) }
            guard var decision = try await body(context) else { continue }
            if let recorder {
                if decision.recordsResponse {
                    let row = try record(decision, recorder, context)
                    decision.changes.append(
                        decision.isUnchecked ? .writeDummyAnswer(row) : .insertAnswer(row))
                } else if let recorded = try await self.recorded(recorder.key, until: end, context),
                    recorded.answer != nil || !decidesAnew
                {
                    // Another node accepted the same request after this node looked for the
                    // response. The request's code or secret is spent, so a second decision would
                    // be a denial.
                    throw .answered(recorded)
                }
            }
            let seconds = decision.enterDenial(at: self)
            if !decision.changes.isEmpty {
                let outcome = try await commit(
                    decision.changes, from: origin, at: context.now)
                guard outcome == .done else { continue }
            }
            if let seconds { throw .tooManyDenials(retryAfter: seconds) }
            return decision.outcome
        }
        throw .contended
    }

    /// Waits for a random time, at most a quarter of a second, so that many requests for one
    /// credential do not keep delaying each other.
    private static func pause(_ round: Int, _ random: VerificationID) async {
        let longest = 1 << min(round, 8)
        let chosen = longest * Int(random.bytes[0]) / 256
        do { try await Task.sleep(for: .milliseconds(chosen)) } catch {}
    }

    func commit(_ changes: [StoreChange]) async throws(VerifierError) -> CommitOutcome {
        let outcome = try await VerifierError.store(in: await store.commit(changes))
        if outcome == .done { committed.add(changes) }
        return outcome
    }

    /// The number of events of each kind that this verifier has committed.
    package var eventCounts: [Event.Kind: UInt64] { committed.counts }

    /// The credential with this id, in any state, if the caller may know its subject.
    package func record(_ id: CredentialID) async throws(VerifierError) -> CredentialRecord? {
        let row = try await VerifierError.store(in: await store.credential(id))
        return reachable(try decoded(row))
    }

    /// Decodes a row; if there is none, a dummy row, so that the response time does not reveal
    /// which ids exist (V-06).
    func decoded(_ row: CredentialRow?) throws(VerifierError) -> CredentialRecord? {
        meter?.count(.rows)
        let record = try CredentialRecord(row ?? CredentialRecord.nobody)
        return row == nil ? nil : record
    }

    /// A subject's credentials that are not revoked.
    package func records(of subject: Subject) async throws(VerifierError) -> [CredentialRecord] {
        // More credentials than any earlier policy can have permitted, because a decision must see
        // all of them.
        let limit = 8 * Policy.highestMaximumCredentials
        let rows = try await VerifierError.store(
            in: await store.credentials(.alive(of: subject), limit: limit))
        var records: [CredentialRecord] = []
        for row in rows {
            if let record = try decoded(row) { records.append(record) }
        }
        if rows.isEmpty { _ = try decoded(nil) }
        return records
    }
}

/// The number of committed events of each kind, for metrics.
private final class EventCounts: Sendable {
    private let kinds = Mutex<[Event.Kind: UInt64]>([:])

    var counts: [Event.Kind: UInt64] { kinds.withLock { $0 } }

    func add(_ changes: [StoreChange]) {
        kinds.withLock { kinds in
            for case .appendEvent(let event) in changes { kinds[event.kind, default: 0] += 1 }
        }
    }
}

/// The time until which a recorded response that contains a credential's secrets is returned,
/// unless the credential ends earlier.
package enum AnswerEnd: Sendable {
    /// Until the credential is confirmed, or its device has fetched its secret.
    case confirmation
    /// Until the credential is used for the first time.
    case use
    /// Until the credential ends: a device that lost a response can get it again.
    case end
}

extension Verifier {
    /// The recorded response to this request.
    ///
    /// - Parameter end: the time until which a response that contains secrets is returned.
    func recorded(
        _ key: [UInt8]?, until end: AnswerEnd, _ context: DecisionContext
    ) async throws(VerifierError) -> RecordedAnswer? {
        guard let key else { return nil }
        let row = try await VerifierError.store(in: await store.answer(key: key))
        guard let row else { return nil }
        guard let sealed = row.sealed, context.now < row.expiresAt,
            try await !isOver(end, secretsOf: row.credential)
        else {
            return RecordedAnswer(request: row.request, answer: nil)
        }
        let sealing = try context.key(sealed.keyID).answerKey(row.key)
        let data = associatedData(row.key, row.request, row.credential, sealed.keyID)
        let answer = try VerifierError.opening(
            sealing.open(sealed.bytes.span, associatedData: data.span))
        return RecordedAnswer(request: row.request, answer: answer)
    }

    /// Whether a credential's secrets may no longer be returned.
    ///
    /// The response's own row does not decide this, because an attacker with write access to the
    /// database could put back an earlier copy of that row.
    private func isOver(
        _ end: AnswerEnd, secretsOf id: CredentialID?
    ) async throws(VerifierError) -> Bool {
        guard let id else { return false }
        guard let record = try await record(id) else { return true }
        guard record.state == .pending || record.state == .active else { return true }
        return switch end {
        case .confirmation: record.state != .pending
        case .use: record.lastUsedAt != nil
        case .end: false
        }
    }

    /// The row that records the response to a decision, sealed because the response may contain
    /// secrets that are shown only once.
    package func record<Outcome>(
        _ decision: Decision<Outcome>, _ recorder: Recorder<Outcome>, _ context: DecisionContext
    ) throws(VerifierError) -> AnswerRow {
        let key = context.keys.current
        let answer = recorder.answer(decision.outcome)
        guard answer.count <= Policy.maximumAnswerCount else { throw .answerTooLong }
        let data = associatedData(recorder.key, recorder.request, decision.secretsOf, key.id)
        let sealing = key.answerKey(recorder.key)
        let sealed = sealing.seal(answer, associatedData: data.span)
        return AnswerRow(
            key: recorder.key, request: recorder.request, credential: decision.secretsOf,
            sealed: AnswerRow.Sealed(sealed, under: key.id),
            expiresAt: context.now.adding(milliseconds: Policy.answerLifetime))
    }

    private func associatedData(
        _ key: [UInt8], _ request: [UInt8], _ credential: CredentialID?, _ id: KeyID
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("watchword answer")
        writer.write(key)
        writer.write(request)
        writer.writeOptional(credential) { $0.write($1.bytes) }
        writer.write(id.number)
        return writer.bytes
    }
}
