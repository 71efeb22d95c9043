internal import Synchronization
package import WatchwordCryptography

/// The outcome of a request and the changes to store with it.
///
/// The outcome is returned only if all of the changes are committed.
package struct Decision<Outcome: Sendable>: Sendable {
    package let outcome: Outcome
    package var changes: [StoreChange]
    /// The credential whose secrets the outcome contains.
    ///
    /// When the credential ends, the recorded response is deleted.
    package var secretsOf: CredentialID?
    /// Whether the response is recorded for a repeated request.
    ///
    /// Denials are not recorded if a repeated request would be denied again anyway, so that an
    /// attacker cannot fill the disk with denials, and no denial outlives its cause.
    package var recordsResponse = true
    /// An event that is written only as often as ``DenialCounter`` permits.
    var denial: CountedDenial?

    package init(
        outcome: Outcome, changes: [StoreChange], secretsOf: CredentialID? = nil,
        recordsResponse: Bool = true
    ) {
        self.outcome = outcome
        self.changes = changes
        self.secretsOf = secretsOf
        self.recordsResponse = recordsResponse
    }

    /// Whether an application's request is denied without a check and without a change.
    ///
    /// The response is then not recorded, so that codes made up by strangers do not fill the disk,
    /// but the denial costs the same work (V-06).
    var isUnchecked: Bool {
        denial?.sender.isApplication == true && !changes.contains(where: \.hasCondition)
    }
}

/// Everything except the rows that a decision depends on.
package struct DecisionContext: Sendable {
    package let now: UnixTime
    package let policy: Policy
    package let keys: KeyRing
    package let verification: VerificationID
    package let origin: Origin
    package let randomness: RandomSource
    package let meter: WorkMeter?

    /// The key version that a row specifies.
    package func key(_ id: KeyID?) throws(VerifierError) -> KeyVersion {
        guard let id else { throw .damagedRow }
        guard let key = keys.version(id) else { throw .keyMissing(id) }
        return key
    }

    /// Makes the change that records an event of this decision.
    package func event(
        _ kind: Event.Kind, _ reason: Event.Reason? = nil, subject: Subject?,
        credential: CredentialID? = nil, number: Int64? = nil
    ) -> StoreChange {
        .appendEvent(
            unwritten(
                kind, reason, subject: subject, credential: credential, number: number))
    }

    /// Makes an event without the change that records it.
    package func unwritten(
        _ kind: Event.Kind, _ reason: Event.Reason?, subject: Subject?,
        credential: CredentialID?, number: Int64? = nil
    ) -> Event {
        Event(
            kind, reason: reason, time: now, subject: subject, credential: credential,
            verification: verification, origin: origin, number: number)
    }

    package func event(
        _ kind: Event.Kind, _ reason: Event.Reason? = nil, of record: CredentialRecord,
        number: Int64? = nil
    ) -> StoreChange {
        event(kind, reason, subject: record.subject, credential: record.id, number: number)
    }

    /// The dummy row to write instead of the row that a wrong code would change.
    ///
    /// - Parameter body: the content of that row; `nil` if the content does not matter.
    package func dummy(_ body: [UInt8]? = nil) -> DummyRow {
        let slot = verification.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        return DummyRow(slot: slot, body: body ?? [UInt8](repeating: 0, count: 240))
    }

    /// Random bytes that are not secret.
    package func randomBytes(_ count: Int) -> [UInt8] {
        randomness.bytes(count)
    }

    /// Random bytes that are secret.
    package func randomSecret(_ count: Int) -> SecretBytes {
        randomness.secret(count)
    }
}

/// Counts the work of a decision, so that a test can check that an unknown subject costs as much as
/// a known one.
package final class WorkMeter: Sendable {
    package enum Work: Int, CaseIterable, Sendable {
        /// The number of decoded credential rows.
        case rows
        /// The number of codes that were computed and compared.
        case codes
        /// The number of sealed boxes that were opened, and of dummy boxes that were sealed
        /// instead.
        case openings
        /// The number of digests and marks of secrets that were computed and compared.
        case digests
        /// The number of recovery codes that were hashed.
        case hashes
        /// The number of signatures of passkeys and device keys that were verified.
        case signatures
    }

    private let rows = Atomic<Int>(0)
    private let codes = Atomic<Int>(0)
    private let openings = Atomic<Int>(0)
    private let digests = Atomic<Int>(0)
    private let hashes = Atomic<Int>(0)
    private let signatures = Atomic<Int>(0)

    package func count(_ work: Work, _ times: Int = 1) {
        switch work {
        case .rows: rows.add(times, ordering: .relaxed)
        case .codes: codes.add(times, ordering: .relaxed)
        case .openings: openings.add(times, ordering: .relaxed)
        case .digests: digests.add(times, ordering: .relaxed)
        case .hashes: hashes.add(times, ordering: .relaxed)
        case .signatures: signatures.add(times, ordering: .relaxed)
        }
    }

    /// The work done so far.
    var counts: [Work: Int] {
        [
            .rows: rows.load(ordering: .relaxed), .codes: codes.load(ordering: .relaxed),
            .openings: openings.load(ordering: .relaxed),
            .digests: digests.load(ordering: .relaxed), .hashes: hashes.load(ordering: .relaxed),
            .signatures: signatures.load(ordering: .relaxed),
        ]
    }
}
