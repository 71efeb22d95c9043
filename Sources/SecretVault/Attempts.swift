/// All failures that are counted against one vault and its records: what `vault.attempts` says.
///
/// It decides, and does nothing: whether another try may be made, and which records are to be wiped.
struct Attempts: Hashable {
    /// What failures are counted against.
    enum Subject: Hashable {
        /// The vault, by a wrong passphrase.
        case vault
        /// One record as it was sealed in this generation, by a check that said no. What is sealed anew
        /// starts with none.
        case record(RecordID, revision: UInt64)
    }

    /// What is counted against one record.
    struct OfRecord: Hashable {
        let revision: UInt64
        let failures: Failures
    }

    /// What comes of asking for another try.
    enum Admission: Hashable {
        /// It may be made, once this is on the disk: it counts as a failure until it turns out to
        /// be none.
        case counted(Attempts)
        /// So many seconds are still to be waited for; this is what the file should say meanwhile.
        case wait(UInt64, Attempts)
    }

    let vaultID: [UInt8]
    var vault: Failures?
    private(set) var records: [RecordID: OfRecord]

    /// Nothing is counted.
    init(of vaultID: [UInt8]) { self.init(of: vaultID, vault: nil, records: [:]) }

    init(of vaultID: [UInt8], vault: Failures?, records: [RecordID: OfRecord]) {
        self.vaultID = vaultID
        self.vault = vault
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
        next[subject] = .adding(to: counted, at: now)
        return .counted(next)
    }

    /// The records that are to be wiped: so many failures of the vault and of their own in a row.
    ///
    /// - Parameter settled: whether the records' own failures are failures; while somebody is being
    ///   asked, the last one may still turn out to be none.
    func due(in lines: [RecordLine], settled: Bool) -> Set<RecordID> {
        guard vault != nil || (settled && !records.isEmpty) else { return [] }
        var due: Set<RecordID> = []
        for line in lines where isDue(line, settled: settled) { due.insert(line.id) }
        return due
    }

    /// Whether this record is to be wiped.
    func isDue(_ line: RecordLine, settled: Bool) -> Bool {
        guard case .wipe(let limit) = line.accessControl.onFailure else { return false }
        let own = settled ? self[.record(line.id, revision: line.revision)]?.count ?? 0 : 0
        let (total, isOver) = (vault?.count ?? 0).addingReportingOverflow(own)
        return isOver || total >= UInt64(limit.value)
    }

    /// The same without what is counted against the vault.
    func withoutVault() -> Attempts { Attempts(of: vaultID, vault: nil, records: records) }

    /// The same without what is counted against these records.
    func without(_ ids: Set<RecordID>) -> Attempts {
        Attempts(of: vaultID, vault: vault, records: records.filter { !ids.contains($0.key) })
    }

    /// The same without what is counted against records that are gone, or were sealed anew.
    func pruned(to lines: [RecordLine], of generation: UInt64) -> Attempts {
        guard !records.isEmpty else { return self }
        let revisions = Dictionary(uniqueKeysWithValues: lines.map { ($0.id, $0.revision) })
        // What is newer than the file that was read was counted by somebody who has read a newer one.
        let kept = records.filter { id, counted in
            counted.revision == revisions[id] || counted.revision > generation
        }
        return Attempts(of: vaultID, vault: vault, records: kept)
    }
}
