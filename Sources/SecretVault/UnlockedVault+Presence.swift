internal import Cryptography
public import POSIX
public import Presence

extension UnlockedVault {
    /// Proves the presence that unlocking proved, for opening the entry `id`.
    ///
    /// An entry that asks for presence at each use takes it once, unless it waits; after that
    /// another check must be asked. A proof that was made for the entry before is void.
    ///
    /// - Throws: ``VaultError/presenceNeeded``, ``VaultError/otherCheckDemanded``,
    ///   ``VaultError/noSuchEntry``, ``VaultError/lockedOut(seconds:)``.
    public func proofOfUnlocking(
        for id: RecordID, reading: ClockReading = .now(),
        now: @autoclosure () -> Moment = .now
    ) throws(VaultError) -> PresenceProof<Cryptographic> {
        let line = state.records[try state.index(of: id)].line
        if line.accessControl.presence.isPerUse {
            guard line.accessControl.presence.accepts(Cryptographic.self) else {
                throw .otherCheckDemanded
            }
            guard !usedOnce.contains(id) else { throw .presenceNeeded }
            try settle(line, at: reading)
            usedOnce.insert(id)
        }
        var check = Unlocking()
        let purpose = PresencePurpose("unlock")
        guard let proof = check.prove(for: purpose, now: now().sinceStart) else {
            throw .presenceNeeded
        }
        purposes[id] = purpose
        return proof
    }

    /// Asks `check` whether the person is there, for opening the entry `id`.
    ///
    /// A failure is counted on the disk before the check is asked; the count goes when the check
    /// says yes, and its last failure when the check had no answer in which a try may hide. The
    /// entry waits after five failures in a row, or is wiped after as many as it says. A proof that
    /// was made for the entry before is void. A check that the entry does not accept is not asked:
    /// ``VaultError/otherCheckDemanded``.
    ///
    /// - Parameters:
    ///   - words: what for, in words for the person.
    ///   - lifetime: how long the proof can be spent.
    public func prove<Check: PresenceCheck>(
        _ check: inout Check, for id: RecordID, words: String,
        reading: @autoclosure () -> ClockReading = .now(),
        lasting lifetime: Duration = .seconds(30),
        now: @autoclosure () -> Moment = .now
    ) throws(GateError<Check.Failure>) -> PresenceProof<Check.Grade> {
        typealias Gate = GateError<Check.Failure>
        purposes[id] = nil
        let tried = try Gate.from { () throws(VaultError) in
            try count(id, checkedBy: Check.Grade.self, at: reading())
        }
        let purpose = PresencePurpose(words)
        let proof: PresenceProof<Check.Grade>?
        do {
            proof = try check.prove(for: purpose, lasting: lifetime, now: now().sinceStart)
        } catch {
            if error.mayHideAttempt {
                _ = try Gate.from { () throws(VaultError) in try fail(tried, at: reading()) }
            } else {
                takeBack(tried)
            }
            throw .check(error)
        }
        guard let proof else {
            let cost = try Gate.from { () throws(VaultError) in try fail(tried, at: reading()) }
            throw .refused(cost)
        }
        try Gate.from { () throws(VaultError) in try clear(tried.line) }
        purposes[id] = purpose
        return proof
    }

    /// Opens the entry `id`; the proof is spent, whatever comes of it.
    ///
    /// - Throws: ``VaultError/proofRefused(_:)`` for a proof that is too old, was made for another
    ///   entry or another vault, or before another one; ``VaultError/noSuchEntry``,
    ///   ``VaultError/wiped``, or ``VaultError/damaged(_:)``.
    public func open<Grade: PresenceGrade>(
        _ id: RecordID, proof: consuming PresenceProof<Grade>, now: Moment = .now
    ) throws(VaultError) -> EntryContent {
        try spend(proof, on: id, now: now)
        let record = state.records[try state.index(of: id)]
        return try record.content(with: key)
    }

    /// Takes the next code's counter of a counter-based entry: the counter behind it is on the disk
    /// when this returns, so no code is handed out twice.
    ///
    /// The proof is spent as by ``open(_:proof:now:)``.
    ///
    /// - Returns: the entry with the counter to make the code of.
    public func nextHOTP<Grade: PresenceGrade>(
        _ id: RecordID, proof: consuming PresenceProof<Grade>, now: Moment = .now
    ) throws(VaultError) -> EntryContent {
        try spend(proof, on: id, now: now)
        return try update { changes throws(VaultError) in try changes.advanceCounter(of: id) }
    }

    /// What is counted against the entry `id`: to be asked before somebody is asked.
    public func lockOut(of id: RecordID, reading: ClockReading = .now()) throws(VaultError)
        -> LockOut
    {
        let line = state.records[try state.index(of: id)].line
        return LockOut(try attempts()[line.subject], at: reading)
    }

    /// Whether the passphrase or recovery key opens this vault, for ``OpenerCheck``.
    ///
    /// Nothing is counted here: ``prove(_:for:words:reading:lasting:now:)`` counts what a check asks.
    func isOpened(by opener: VaultOpener) throws(VaultError) -> Bool {
        let bytes = try location.read(location.name, in: location.openFolder())
        let document = try VaultDocument(parsing: bytes)
        guard document.vaultID == key.vaultID else { throw .replaced }
        do throws(VaultError) {
            let found = try document.key(with: opener, ceiling: ceiling).0.secret
            guard found == key.secret || !state.isRekeyed(in: document) else { throw .rekeyed }
            return found == key.secret
        } catch .wrongPassphrase, .wrongRecoveryKey {
            return false
        }
    }
}

/// Unlocking is a check of presence: whoever had the key to a slot was there.
private struct Unlocking: PresenceCheck {
    typealias Grade = Cryptographic

    mutating func isPresent(for purpose: String) -> Bool { true }
}

/// A try that is counted and not decided.
private struct CountedTry: ~Copyable {
    let line: RecordLine
    let asked: AskedPresence
}

// The counting.
extension UnlockedVault {
    private func attempts() throws(VaultError) -> Attempts {
        try Attempts.read(location, in: location.openFolder(), of: state.vaultID)
    }

    private func spend<Grade: PresenceGrade>(
        _ proof: consuming PresenceProof<Grade>, on id: RecordID, now: Moment
    ) throws(VaultError) {
        guard let purpose = purposes.removeValue(forKey: id) else {
            throw .proofRefused(.otherPurpose)
        }
        do { try proof.spend(on: purpose, now: now.sinceStart) } catch {
            throw .proofRefused(error)
        }
    }

    private func count(
        _ id: RecordID, checkedBy grade: any PresenceGrade.Type, at reading: ClockReading
    ) throws(VaultError) -> CountedTry {
        let counter = try AttemptCounter(location)
        // Somebody else may have changed, wiped or removed the entry.
        try readAgain()
        var attempts = try counter.read(of: state.vaultID)
        let lines = state.records.map(\.line)
        if let left = try counter.wipeWhatIsDue(attempts, in: lines, at: reading) {
            attempts = left
            try readAgain()
        }
        let record = state.records[try state.index(of: id)]
        guard case .sealed = record.body else { throw .wiped }
        guard record.line.accessControl.presence.accepts(grade) else { throw .otherCheckDemanded }
        // Somebody else is being asked the last time that the entry may be: that comes first.
        guard !attempts.isDue(record.line, settled: true) else { throw .busy }
        switch attempts.admission(of: record.line.subject, at: reading) {
        case .wait(let seconds, let moved):
            if moved != attempts { _ = counter.settle(moved) }
            throw .lockedOut(seconds: Int64(seconds))
        case .counted(let counted):
            let asked = try AskedPresence(location)
            try counter.save(counted.pruned(to: lines, of: state.generation))
            return CountedTry(line: record.line, asked: asked)
        }
    }

    private func fail(_ tried: borrowing CountedTry, at reading: ClockReading) throws(VaultError)
        -> RefusalCost
    {
        let counter = try AttemptCounter(location)
        let attempts = try counter.read(of: state.vaultID)
        let line = tried.line
        if attempts.isDue(line, settled: true) {
            _ = try counter.wipeWhatIsDue(attempts, in: [line], asked: line.id, at: reading)
            try readAgain()
            return .wiped
        }
        let failures = attempts[line.subject]
        if let rest = failures?.rest(at: reading), rest > 0 { return .wait(seconds: Int64(rest)) }
        var free = Failures.free - 1
        if case .wipe(let limit) = line.accessControl.onFailure {
            free = min(free, UInt64(limit.value) - 1)
        }
        let counted = failures?.count ?? 0
        return .free(left: free > counted ? Int(free - counted) : 0)
    }

    // Should this fail, a failure too many is counted, which the next success takes off.
    private func takeBack(_ tried: borrowing CountedTry) {
        do throws(VaultError) {
            let counter = try AttemptCounter(location)
            var attempts = try counter.read(of: state.vaultID)
            attempts[tried.line.subject] = attempts[tried.line.subject]?.withoutLast()
            try counter.save(attempts)
        } catch _ {}
    }

    private func clear(_ line: RecordLine) throws(VaultError) {
        let counter = try AttemptCounter(location)
        var attempts = try counter.read(of: state.vaultID)
        guard attempts[line.subject] != nil else { return }
        attempts[line.subject] = nil
        try counter.save(attempts)
    }

    /// Takes the failures that are counted against an entry off, unless it waits.
    private func settle(_ line: RecordLine, at reading: ClockReading) throws(VaultError) {
        guard let failures = try attempts()[line.subject] else { return }
        let rest = failures.rest(at: reading)
        guard rest == 0 else { throw .lockedOut(seconds: Int64(rest)) }
        try clear(line)
    }
}

extension RecordLine {
    /// What this record's failures are counted against.
    fileprivate var subject: Attempts.Subject { .record(id, revision: revision) }
}

extension GateError {
    /// Makes what the vault throws the gate's error.
    fileprivate static func from<Result: ~Copyable>(
        _ body: () throws(VaultError) -> Result
    ) throws(GateError) -> Result {
        do { return try body() } catch { throw .vault(error) }
    }
}
