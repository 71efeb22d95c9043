/// All attempts that are counted against one vault and its records: what its file of attempts says.
///
/// It decides and does nothing: whether another attempt may be made, and which records are to be wiped.
struct Attempts: Hashable {
    /// What attempts are counted against.
    enum Subject: Hashable {
        /// The vault, by a passphrase.
        case vault
        /// One record as it was sealed in this generation, by a check of presence. What is sealed anew
        /// starts with none.
        case record(RecordID, revision: UInt64)
    }

    /// What is counted against one record.
    struct OfRecord: Hashable {
        let revision: UInt64
        let failures: Failures
    }

    /// What comes of asking for another attempt.
    enum Admission: Hashable {
        /// It may be made once this is on the disk.
        case begun(Attempts)
        /// So many seconds are still to be waited for; this is what the file should say meanwhile.
        case wait(UInt64, Attempts)
        /// So many records are counted already that no other fits.
        case full
    }

    /// How many records can be counted at a time, so that all fits a slot of the file.
    static let mostRecords = 90

    /// How many sets of slots can have refused attempts at the vault that count towards a wipe.
    static let mostRefusers = 4

    let vaultID: [UInt8]
    var vault: Failures? { didSet { if vault == nil { refusals = [:] } } }
    /// The refused attempts at the vault that count towards a wipe, by the slots that refused them.
    private(set) var refusals: [SlotsDigest: UInt64]
    private(set) var records: [RecordID: OfRecord]

    /// Nothing is counted.
    init(of vaultID: [UInt8]) { self.init(of: vaultID, vault: nil, records: [:]) }

    init(
        of vaultID: [UInt8], vault: Failures?, refusals: [SlotsDigest: UInt64] = [:],
        records: [RecordID: OfRecord]
    ) {
        self.vaultID = vaultID
        self.vault = vault
        self.refusals = refusals
        self.records = records
    }

    var isEmpty: Bool { vault == nil && records.isEmpty }

    /// What is counted against `subject`.
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
                records[id] = newValue.map { OfRecord(revision: revision, failures: $0) }
            }
        }
    }

    /// Decides whether `subject` may be tried at `now`.
    func admission(of subject: Subject, at now: ClockReading) -> Admission {
        var next = self
        let counted = self[subject]
        if let counted, case let rest = counted.rest(at: now), rest > 0 {
            next[subject] = counted.moved(to: now) ?? counted
            return .wait(rest, next)
        }
        next[subject] = .beginning(after: counted, at: now)
        return next.records.count <= Attempts.mostRecords ? .begun(next) : .full
    }

    /// What comes of an attempt.
    enum Outcome: Hashable {
        /// Yes.
        case opened
        /// It was checked, and the answer is no; a file with these slots was asked.
        case refused(by: SlotsDigest)
        /// It was not made; this was counted before it, and with it.
        case notMade(before: Failures?, with: Failures?)
    }

    /// What is counted once an attempt at `subject` that was begun is decided.
    func deciding(_ subject: Subject, _ outcome: Outcome, at now: ClockReading) -> Attempts {
        var next = self
        switch outcome {
        case .opened: next[subject] = nil
        case .refused(let slots):
            next[subject] = .refusing(in: self[subject], at: now)
            // A record is the same in every file that holds it, so only the vault's refusals are told apart.
            if case .vault = subject { next.addRefusal(by: slots) }
        case .notMade(let before, let with):
            // Where nobody else has begun or decided one meanwhile, all is as it was before.
            next[subject] = self[subject] == with ? before : self[subject]?.withdrawing()
        }
        return next
    }

    // What yet another set of slots refuses costs waits only.
    private mutating func addRefusal(by slots: SlotsDigest) {
        guard refusals[slots] != nil || refusals.count < Attempts.mostRefusers else { return }
        refusals[slots] = min(refusals[slots, default: 0] + 1, vault?.refused ?? 0)
    }

    /// The records that are to be wiped in the file with these slots: so many refused attempts at the vault
    /// and at them in a row.
    func due(in lines: [RecordLine], by slots: SlotsDigest) -> Set<RecordID> {
        guard vault != nil || !records.isEmpty else { return [] }
        return Set(lines.filter { isDue($0, by: slots) }.map(\.id))
    }

    /// Whether this record is to be wiped in the file with these slots.
    func isDue(_ line: RecordLine, by slots: SlotsDigest) -> Bool {
        refusals(of: line, by: slots) >= limit(of: line)
    }

    /// Whether this record is to be wiped should all undecided attempts at it be refused.
    func mayBecomeDue(_ line: RecordLine, by slots: SlotsDigest) -> Bool {
        let (refusals, limit) = (refusals(of: line, by: slots), limit(of: line))
        return refusals >= limit || self[line.subject]?.undecided ?? 0 >= limit - refusals
    }

    /// The same without what is counted against the vault.
    func withoutVault() -> Attempts { Attempts(of: vaultID, vault: nil, records: records) }

    /// The same without what is counted against these records.
    func without(_ ids: Set<RecordID>) -> Attempts {
        var next = self
        for id in ids { next.records[id] = nil }
        return next
    }

    /// The same without what is counted against records that are gone, or were sealed anew.
    func pruned(to lines: [RecordLine], of generation: UInt64) -> Attempts {
        guard !records.isEmpty else { return self }
        let revisions = Dictionary(uniqueKeysWithValues: lines.map { ($0.id, $0.revision) })
        // What is newer than the file that was read was counted by somebody who has read a newer one.
        var next = self
        next.records = records.filter { id, counted in
            counted.revision == revisions[id] || counted.revision > generation
        }
        return next
    }

    /// How many refused attempts count towards wiping this record in the file with these slots.
    func refusals(of line: RecordLine, by slots: SlotsDigest) -> UInt64 {
        // Each fits 63 bits.
        (refusals[slots] ?? 0) + (self[line.subject]?.refused ?? 0)
    }

    private func limit(of line: RecordLine) -> UInt64 {
        guard case .wipe(let limit) = line.accessControl.onFailure else { return .max }
        return UInt64(limit.value)
    }
}

extension RecordLine {
    /// What this record's failures are counted against.
    var subject: Attempts.Subject { .record(id, revision: revision) }
}
