/// All attempts that are counted against one vault and its records: the content of its attempts
/// file.
///
/// The type performs no I/O. It decides whether another attempt is allowed, and which records must
/// be wiped.
struct Attempts: Hashable {
    /// The vault or record against which attempts are counted.
    enum Subject: Hashable {
        /// The vault: attempts with a passphrase.
        case vault
        /// One record, as sealed in this generation: attempts at a presence check for that record.
        /// Resealing a record resets its count.
        case record(RecordID, revision: UInt64)
    }

    /// The failures that are counted against one record.
    struct RecordFailures: Hashable {
        let revision: UInt64
        let failures: Failures
    }

    /// Whether another attempt is allowed.
    enum Admission: Hashable {
        /// The attempt is allowed once these counts are on disk.
        case begun(Attempts)
        /// The attempt is allowed after this many seconds; the file should hold these counts until
        /// then.
        case wait(UInt64, Attempts)
        /// The file has no room to count this record: all places are taken by older records.
        case full
    }

    /// The maximum number of counted records that fit in a slot of the file.
    static let maximumRecordCount = 90

    /// The maximum number of slot sets whose refusals count towards a wipe.
    static let maximumRefuserCount = 4

    let vaultID: [UInt8]
    var vault: Failures? { didSet { if vault == nil { refusals = [:] } } }
    /// The refused attempts at the vault that count towards a wipe, by the slot set that refused
    /// them.
    private(set) var refusals: [SlotsDigest: UInt64]
    private(set) var records: [RecordID: RecordFailures]

    init(of vaultID: [UInt8]) { self.init(of: vaultID, vault: nil, records: [:]) }

    init(
        of vaultID: [UInt8], vault: Failures?, refusals: [SlotsDigest: UInt64] = [:],
        records: [RecordID: RecordFailures]
    ) {
        self.vaultID = vaultID
        self.vault = vault
        self.refusals = refusals
        self.records = records
    }

    var isEmpty: Bool { vault == nil && records.isEmpty }

    /// The failures that are counted against `subject`.
    subscript(subject: Subject) -> Failures? {
        get {
            switch subject {
            case .vault: return vault
            case .record(let id, let revision):
                guard let counted = records[id], counted.revision == revision else { return nil }
                return counted.failures
            }
        }
        set {
            switch subject {
            case .vault: vault = newValue
            case .record(let id, let revision):
                records[id] = newValue.map { RecordFailures(revision: revision, failures: $0) }
                makeRoom()
            }
        }
    }

    /// Drops the count of the newest record if there are too many: anyone with the open vault can
    /// add records, and these must not lock out older ones.
    ///
    /// The dropped record stays locked out until there is room again.
    private mutating func makeRoom() {
        guard records.count > Attempts.maximumRecordCount else { return }
        let newest = records.max { one, other in
            let (first, second) = (one.value.revision, other.value.revision)
            return first == second ? one.key.precedes(other.key) : first < second
        }
        if let newest { records[newest.key] = nil }
    }

    /// Decides whether an attempt at `subject` is allowed at `now`.
    func admission(of subject: Subject, at now: ClockReading) -> Admission {
        var next = self
        let counted = self[subject]
        if let counted, case let rest = counted.rest(at: now), rest > 0 {
            next[subject] = counted.moved(to: now) ?? counted
            return .wait(rest, next)
        }
        next[subject] = .beginning(after: counted, at: now)
        return next[subject] == nil ? .full : .begun(next)
    }

    /// The result of an attempt.
    enum Outcome: Hashable {
        case opened
        /// The check failed, in a file with these slots; if the slots are unknown, the failure
        /// costs only a wait.
        case refused(by: SlotsDigest?)
        /// No check was made. These were the counts before and after the attempt began.
        case notMade(before: Failures?, with: Failures?)
    }

    /// The counts after an attempt at `subject` that was begun has this outcome.
    func deciding(_ subject: Subject, _ outcome: Outcome, at now: ClockReading) -> Attempts {
        var next = self
        switch outcome {
        case .opened: next[subject] = nil
        case .refused(let slots):
            next[subject] = .refusing(in: self[subject], at: now)
            // A record is the same in every file that contains it, so only refusals at the vault
            // are counted by slot set.
            if case .vault = subject, let slots { next.addRefusal(by: slots) }
        case .notMade(let before, let with):
            // If no other attempt began or ended in the meantime, restore the previous counts.
            next[subject] = self[subject] == with ? before : self[subject]?.withdrawing()
        }
        return next
    }

    // If there are too many slot sets, refusals by a further one cost only a wait.
    private mutating func addRefusal(by slots: SlotsDigest) {
        guard refusals[slots] != nil || refusals.count < Attempts.maximumRefuserCount else {
            return
        }
        refusals[slots] = min(refusals[slots, default: 0] + 1, vault?.refused ?? 0)
    }

    /// The records that must be wiped in the file with these slots: those for which the consecutive
    /// refused attempts, at the vault and at the record combined, have reached the record's limit.
    func due(in lines: [RecordLine], by slots: SlotsDigest) -> Set<RecordID> {
        guard vault != nil || !records.isEmpty else { return [] }
        return Set(lines.filter { isDue($0, by: slots) }.map(\.id))
    }

    /// Whether this record must be wiped in the file with these slots.
    func isDue(_ line: RecordLine, by slots: SlotsDigest) -> Bool {
        refusals(of: line, by: slots) >= limit(of: line)
    }

    /// Whether this record would have to be wiped if all undecided attempts at it were refused.
    func mayBecomeDue(_ line: RecordLine, by slots: SlotsDigest) -> Bool {
        let (refusals, limit) = (refusals(of: line, by: slots), limit(of: line))
        return refusals >= limit || self[line.subject]?.undecided ?? 0 >= limit - refusals
    }

    /// A copy without the failures that are counted against the vault, except attempts that the
    /// slot sets `others` have refused.
    func withoutVault(except others: Set<SlotsDigest>) -> Attempts {
        let kept = refusals.filter { others.contains($0.key) }
        return Attempts(
            of: vaultID, vault: vault?.limited(to: kept.values.reduce(0, +)), refusals: kept,
            records: records)
    }

    /// A copy without the failures of records that were removed, wiped or resealed.
    func pruned(to lines: [RecordLine], of generation: UInt64) -> Attempts {
        guard !records.isEmpty else { return self }
        let revisions = Dictionary(uniqueKeysWithValues: lines.map { ($0.id, $0.revision) })
        // A process that read a newer file has counted a revision newer than this file: keep that
        // count.
        var next = self
        next.records = records.filter { id, counted in
            counted.revision == revisions[id] || counted.revision > generation
        }
        return next
    }

    /// The number of refused attempts that count towards wiping this record in the file with these
    /// slots.
    func refusals(of line: RecordLine, by slots: SlotsDigest) -> UInt64 {
        // Each of the two fits in 63 bits, so the sum cannot overflow.
        (refusals[slots] ?? 0) + (self[line.subject]?.refused ?? 0)
    }

    private func limit(of line: RecordLine) -> UInt64 {
        guard case .wipe(let limit) = line.accessControl.onFailure else { return .max }
        return UInt64(limit.value)
    }
}

extension RecordLine {
    /// The subject against which this record's failures are counted.
    var subject: Attempts.Subject { .record(id, revision: revision) }
}
