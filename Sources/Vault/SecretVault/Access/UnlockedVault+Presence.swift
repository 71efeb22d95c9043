public import Devices
internal import WatchwordCryptography
public import WatchwordSystem

extension UnlockedVault {
    /// Reuses the presence that unlocking proved, to open the entry `id`.
    ///
    /// An entry that requires a check at each use accepts the check at unlocking once, unless the
    /// entry is locked out; after that, the entry requires a check for each use. An earlier proof
    /// for the entry becomes invalid.
    ///
    /// - Throws: ``VaultError/presenceNeeded``, ``VaultError/differentCheckRequired``,
    ///   ``VaultError/noSuchEntry``, ``VaultError/lockedOut(seconds:)``, ``VaultError/wipingDue``.
    public func proofOfUnlocking(
        for id: RecordID, reading: ClockReading = .now(),
        now: @autoclosure () -> Moment = .now
    ) throws(VaultError) -> PresenceProof<Cryptographic> {
        let record = state.records[try state.index(of: id)]
        let line = record.line
        try expectNotDue(record)
        if line.accessControl.presence.isPerUse {
            guard line.accessControl.presence.accepts(Cryptographic.self) else {
                throw .differentCheckRequired
            }
            guard unlockingProvesPresence, !usedOnce.contains(id) else { throw .presenceNeeded }
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

    /// Reuses an earlier successful check to open the entry `id`.
    ///
    /// The caller must make sure that the check succeeded with the entry's current access control,
    /// within its reuse time. A failed check since then ends the reuse. An earlier proof for the
    /// entry becomes invalid.
    ///
    /// - Throws: ``VaultError/presenceNeeded``, ``VaultError/noSuchEntry``.
    package func proofOfEarlierCheck(
        for id: RecordID, now: @autoclosure () -> Moment = .now
    ) throws(VaultError) -> PresenceProof<Advisory> {
        guard try state.records[state.index(of: id)].line.accessControl.reuse != .none else {
            throw .presenceNeeded
        }
        return try proofOfConfirmation(for: id, now: now())
    }

    /// Uses a check that has just succeeded for this use to open the entry `id`.
    ///
    /// The caller must make sure that the check succeeded with the entry's current access control,
    /// and is used only once. A failed check since then invalidates it. An earlier proof for the
    /// entry becomes invalid.
    ///
    /// - Throws: ``VaultError/presenceNeeded``, ``VaultError/noSuchEntry``,
    ///   ``VaultError/wipingDue``.
    package func proofOfConfirmation(
        for id: RecordID, now: @autoclosure () -> Moment = .now
    ) throws(VaultError) -> PresenceProof<Advisory> {
        let record = state.records[try state.index(of: id)]
        try expectNotDue(record)
        // The check that succeeded has removed the earlier failures.
        guard try attempts()[record.line.subject] == nil else { throw .presenceNeeded }
        var check = EarlierCheck()
        let purpose = PresencePurpose("reuse")
        guard let proof = check.prove(for: purpose, now: now().sinceStart) else {
            throw .presenceNeeded
        }
        purposes[id] = purpose
        return proof
    }

    /// Whether unlocking required a person: a TPM without a PIN does not.
    public var unlockingProvesPresence: Bool {
        slots.first { $0.number == openedSlot }?.provesPresence ?? true
    }

    /// Proves presence with `check`, to open the entry `id`.
    ///
    /// The attempt is recorded before the check runs, and its outcome before it is reported.
    /// Interrupting signals are deferred in between; a check that waits for a person handles them
    /// itself. An attempt stays undecided if the process was killed, or if the check failed in a
    /// way that may conceal a guess. An undecided attempt costs a wait, but never wipes the entry.
    /// Several attempts in a row (``LockOutPolicy``) lock the entry out; an entry that is set to be
    /// wiped is wiped when its refused attempts reach the limit. A passphrase counts against the
    /// vault, too: after the same number of failures in a row, no passphrase is tried until the
    /// wait is over. An earlier proof for the entry becomes invalid. If the entry does not accept
    /// the check, the check does not run, and ``VaultError/differentCheckRequired`` is thrown.
    ///
    /// - Parameter words: the purpose, as shown to the person.
    /// - Throws: the reason why the vault did not allow the check, for example
    ///   ``VaultError/lockedOut(seconds:)``, or why its outcome was not recorded.
    public func prove<Check: PresenceCheck>(
        _ check: inout Check, for id: RecordID, words: String,
        reading: @autoclosure () -> ClockReading = .now(),
        now: @autoclosure () -> Moment = .now
    ) throws(VaultError) -> PresenceOutcome<Check> {
        purposes[id] = nil
        let purpose = PresencePurpose(words)
        let isGuess = (check as? OpenerCheck)?.isGuess ?? false
        guard !isReadOnly else {
            try expectNoWait(of: id, checkedBy: Check.Grade.self, isGuess: isGuess, at: reading())
            let outcome = PresenceOutcome(of: &check, for: purpose, now: now().sinceStart)
            if outcome.isProved { purposes[id] = purpose }
            return outcome
        }
        let outcome = try SignalQueue.holdingBack(SignalQueue.interruptions) {
            () throws(VaultError) -> PresenceOutcome<Check> in
            let tried = try begin(
                id, checkedBy: Check.Grade.self, isGuess: isGuess, at: reading())
            switch PresenceOutcome(of: &check, for: purpose, now: now().sinceStart) {
            case .proved(let proof):
                try VaultError.recording(accept(tried))
                return .proved(proof)
            case .refused:
                return .refused(try VaultError.recording(refuse(tried, at: reading())))
            case .undecided(let failure):
                // If the failure may conceal an attempt, the attempt stays counted, so that
                // cancelling before the refusal gains nothing.
                if !failure.mayConcealAttempt { withdraw(tried) }
                return .undecided(failure)
            }
        } otherwise: {
            .system($0)
        }
        if outcome.isProved { purposes[id] = purpose }
        return outcome
    }

    /// Opens the entry `id`.
    ///
    /// The proof is spent even if the entry does not open.
    ///
    /// - Throws: ``VaultError/proofRefused(_:)`` for a proof that has expired, was made for another
    ///   entry or vault, or was superseded; ``VaultError/noSuchEntry``, ``VaultError/wiped``, or
    ///   ``VaultError/damaged(_:)``.
    public func open<Grade: PresenceGrade>(
        _ id: RecordID, proof: consuming PresenceProof<Grade>, now: Moment = .now
    ) throws(VaultError) -> EntryContent {
        try spend(proof, on: id, now: now)
        let record = state.records[try state.index(of: id)]
        return try record.content(with: key)
    }

    /// Reserves the counter for an HOTP entry's next code.
    ///
    /// The incremented counter is on disk when this returns, so no code is issued twice.
    ///
    /// The proof is spent as in ``open(_:proof:now:)``.
    ///
    /// - Returns: the entry with the counter for the code.
    public func nextHOTP<Grade: PresenceGrade>(
        _ id: RecordID, proof: consuming PresenceProof<Grade>, now: Moment = .now
    ) throws(VaultError) -> EntryContent {
        try spend(proof, on: id, now: now)
        return try update { changes throws(VaultError) in try changes.advanceCounter(of: id) }
    }

    /// The counter for the next code of an HOTP entry; `nil` for entries of other kinds and for a
    /// wiped entry.
    ///
    /// This requires no proof: the counter is not a secret, and the key does not leave this
    /// function.
    ///
    /// - Throws: ``VaultError/noSuchEntry``, ``VaultError/damaged(_:)``.
    public func counter(of id: RecordID) throws(VaultError) -> UInt64? {
        try state.records[try state.index(of: id)].counter(with: key)
    }

    /// The address of an enrolled entry's server, to be shown before the check that opens the
    /// entry; `nil` for entries of other kinds and for a wiped entry.
    ///
    /// This requires no proof: the address is not a secret, and the key does not leave this
    /// function.
    ///
    /// - Throws: ``VaultError/noSuchEntry``, ``VaultError/damaged(_:)``.
    public func server(of id: RecordID) throws(VaultError) -> String? {
        try state.records[try state.index(of: id)].server(with: key)
    }

    /// The failures that are counted against the entry `id`, and the remaining wait.
    ///
    /// Call this before prompting for a check.
    ///
    /// - Parameter isGuess: whether the check tries a passphrase; a lock-out of the vault prevents
    ///   that, too.
    public func lockOut(
        of id: RecordID, isGuess: Bool = false, reading: ClockReading = .now()
    ) throws(VaultError) -> LockOut {
        let line = state.records[try state.index(of: id)].line
        let attempts = try attempts()
        let lockOuts = line.subjects(isGuess: isGuess).map {
            LockOut(attempts[$0], at: reading)
        }
        return lockOuts.max { $0.seconds < $1.seconds } ?? LockOut(nil, at: reading)
    }
}

/// Unlocking is a presence check: it required the passphrase or recovery key of a slot.
private struct Unlocking: PresenceCheck {
    typealias Grade = Cryptographic

    mutating func isPresent(for purpose: String) -> Bool { true }
}

/// A check that the caller has already made, and that has succeeded.
private struct EarlierCheck: PresenceCheck {
    typealias Grade = Advisory

    mutating func isPresent(for purpose: String) -> Bool { true }
}

extension UnlockedVault {
    private func spend<Grade: PresenceGrade>(
        _ proof: consuming PresenceProof<Grade>, on id: RecordID, now: Moment
    ) throws(VaultError) {
        guard let purpose = purposes.removeValue(forKey: id) else {
            throw .proofRefused(.otherPurpose)
        }
        if let refusal = proof.spend(on: purpose, now: now.sinceStart) {
            throw .proofRefused(refusal)
        }
    }
}

extension PresenceOutcome {
    /// Runs the check once.
    ///
    /// A refusal is not yet counted, so its cost is still ``RefusalCost/notCounted``.
    fileprivate init(
        of check: inout Check, for purpose: PresencePurpose, now: @autoclosure () -> Duration
    ) {
        do {
            if let proof = try check.prove(for: purpose, now: now()) {
                self = .proved(proof)
            } else {
                self = .refused(.notCounted)
            }
        } catch {
            self = .undecided(error)
        }
    }

    fileprivate var isProved: Bool {
        switch self {
        case .proved: true
        default: false
        }
    }
}

/// Checks presence with a passphrase or a recovery key.
///
/// The caller asks for the passphrase first: a user who cancels at the prompt has made no attempt,
/// and nothing is counted.
public struct OpenerCheck: PresenceCheck {
    /// Cryptographic: the passphrase or recovery key yields the vault key.
    public typealias Grade = Cryptographic

    /// The reason why the check has no result.
    public struct Failure: PresenceFailure, Hashable {
        /// The error of the vault that stopped the check.
        public let reason: VaultError
        /// Whether a slot rejected the guess before the error, which reveals something to an
        /// attacker.
        public let mayConcealAttempt: Bool
    }

    private let opener: VaultOpener
    private let vault: UnlockedVault

    /// Whether the check tries a passphrase, which can be guessed.
    var isGuess: Bool { if case .passphrase = opener { true } else { false } }

    /// Creates a check that passes if `opener` opens `vault`.
    public init(_ opener: VaultOpener, of vault: UnlockedVault) {
        self.opener = opener
        self.vault = vault
    }

    /// Makes one attempt to open the vault; `purpose` is not used.
    public func isPresent(for purpose: String) throws(Failure) -> Bool {
        try vault.isOpened(by: opener)
    }
}

extension UnlockedVault {
    /// Whether the passphrase or recovery key opens this vault; used by ``OpenerCheck``.
    ///
    /// The attempt is not counted here: ``prove(_:for:words:reading:now:)`` counts it.
    func isOpened(by opener: VaultOpener) throws(OpenerCheck.Failure) -> Bool {
        var mayConcealAttempt = false
        do throws(VaultError) {
            guard opener.provesPresence else { throw .presenceNeeded }
            let document = try VaultDocument(parsing: location.read())
            guard document.vaultID == key.vaultID else { throw .replaced }
            let outcome = document.outcome(of: opener, ceiling: ceiling)
            if case .refused = outcome { return false }
            if case .undecided = outcome { mayConcealAttempt = true }
            let isSame = try outcome.get().key.isEqual(to: key)
            guard isSame || !state.isRekeyed(in: document) else { throw .rekeyed }
            return isSame
        } catch {
            throw OpenerCheck.Failure(reason: error, mayConcealAttempt: mayConcealAttempt)
        }
    }
}
