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
    /// The attempt is written down before the check is asked, and its outcome before it is told: refused,
    /// or nothing any more. Interruptions are held back meanwhile; a check that waits for somebody sees
    /// to them itself. An attempt that stays undecided costs a wait, but never the entry: one that was
    /// killed, and one in which the check had no answer and a try may hide. The entry waits after five
    /// attempts in a row, or is wiped after as many refused ones as it says. A proof that was made for
    /// the entry before is void. A check that the entry does not accept is not asked:
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
        let purpose = PresencePurpose(words)
        guard !isReadOnly else {
            try Gate.from { () throws(VaultError) in
                try expectNoWait(of: id, checkedBy: Check.Grade.self, at: reading())
            }
            let proof: PresenceProof<Check.Grade>?
            do throws(Check.Failure) {
                proof = try check.prove(for: purpose, lasting: lifetime, now: now().sinceStart)
            } catch {
                throw .check(error)
            }
            guard let proof else { throw .refused(.notCounted) }
            purposes[id] = purpose
            return proof
        }
        let proof = try SignalQueue.holdingBack(SignalQueue.interruptions) {
            () throws(Gate) -> PresenceProof<Check.Grade> in
            let tried = try Gate.from { () throws(VaultError) in
                try begin(id, checkedBy: Check.Grade.self, at: reading())
            }
            let proof: PresenceProof<Check.Grade>?
            do throws(Check.Failure) {
                proof = try check.prove(for: purpose, lasting: lifetime, now: now().sinceStart)
            } catch {
                // Who breaks off each time before the no has begun an attempt each time.
                if !error.mayHideAttempt { withdraw(tried) }
                throw .check(error)
            }
            guard let proof else {
                throw .refused(
                    try Gate.from { () throws(VaultError) in try refuse(tried, at: reading()) })
            }
            try Gate.from { () throws(VaultError) in try accept(tried) }
            return proof
        } otherwise: {
            .vault(.system($0))
        }
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
    func isOpened(by opener: VaultOpener) throws(OpenerCheck.Failure) -> Bool {
        let document: VaultDocument
        do throws(VaultError) {
            document = try VaultDocument(parsing: location.read())
            guard document.vaultID == key.vaultID else { throw .replaced }
        } catch {
            throw OpenerCheck.Failure(reason: error, mayHideAttempt: false)
        }
        let found: SecretBytes
        do throws(SlotRefusal) {
            found = try document.openedKey(with: opener, ceiling: ceiling).0.secret
        } catch {
            switch error.outcome {
            case .refused: return false
            case .undecided, .notTried:
                throw OpenerCheck.Failure(
                    reason: error.error, mayHideAttempt: error.outcome == .undecided)
            }
        }
        guard found == key.secret || !state.isRekeyed(in: document) else {
            throw OpenerCheck.Failure(reason: .rekeyed, mayHideAttempt: false)
        }
        return found == key.secret
    }
}

/// Unlocking is a check of presence: whoever had the key to a slot was there.
private struct Unlocking: PresenceCheck {
    typealias Grade = Cryptographic

    mutating func isPresent(for purpose: String) -> Bool { true }
}

extension UnlockedVault {
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
}

extension GateError {
    /// Makes what the vault throws the gate's error.
    fileprivate static func from<Result: ~Copyable>(
        _ body: () throws(VaultError) -> Result
    ) throws(GateError) -> Result {
        do { return try body() } catch { throw .vault(error) }
    }
}
