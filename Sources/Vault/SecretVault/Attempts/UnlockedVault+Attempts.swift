internal import Devices
internal import WatchwordSystem

/// An attempt that is recorded, and whose outcome is not known yet.
struct PendingAttempt: ~Copyable {
    let line: RecordLine
    /// The vault and record against which the attempt is counted.
    let subjects: [Attempts.Subject]
    /// The counts before the attempt began (`before`) and with it (`with`).
    let before: Attempts
    let with: Attempts
    let reading: ClockReading
    let asked: AskedPresence
}

extension RecordLine {
    /// The subjects against which a check for this record is counted.
    ///
    /// The passphrase is the same for all records, so a guess counts against the vault, too.
    /// Otherwise each new record would allow further guesses.
    func subjects(isGuess: Bool) -> [Attempts.Subject] {
        isGuess ? [subject, .vault] : [subject]
    }
}

extension VaultState.Record {
    /// Throws if the entry was wiped.
    ///
    /// An entry that has vanished keeps its check, which permits renaming or removing the entry.
    fileprivate func expectCheckable(
        counting attempts: Attempts, by slots: SlotsDigest
    ) throws(VaultError) {
        let hasVanished = isWipedWithoutKey && !attempts.isDue(line, by: slots)
        guard isSealed || hasVanished else { throw .wiped }
    }
}

extension Attempts {
    /// The counts without the attempt `tried`, which was begun but not made.
    fileprivate func withdrawing(_ tried: borrowing PendingAttempt) -> Attempts {
        var next = self
        for subject in tried.subjects {
            let outcome = Outcome.notMade(before: tried.before[subject], with: tried.with[subject])
            next = next.deciding(subject, outcome, at: tried.reading)
        }
        return next.restored(after: tried)
    }

    /// The counts after the attempt `tried` was withdrawn.
    ///
    /// The count of a record that was dropped to make room for that attempt is restored.
    fileprivate func restored(after tried: borrowing PendingAttempt) -> Attempts {
        var next = self
        for (id, counted) in tried.before.records
        where tried.with.records[id] == nil && next.records[id] == nil {
            next[.record(id, revision: counted.revision)] = counted.failures
        }
        return next
    }
}

// Counts attempts at entries that require a check at each use.
extension UnlockedVault {
    /// The failures that are counted against the vault and its records.
    func attempts() throws(VaultError) -> Attempts {
        try Attempts.read(location, of: state.vaultID)
    }

    /// Records an attempt at the entry, unless the entry is locked out.
    ///
    /// - Parameter isGuess: whether a passphrase is tried; if so, the vault must not be locked out,
    ///   either.
    func begin(
        _ id: RecordID, checkedBy grade: any PresenceGrade.Type, isGuess: Bool,
        at reading: ClockReading
    ) throws(VaultError) -> PendingAttempt {
        let counter = try AttemptCounter(location, of: state.vaultID)
        guard mayChange() else { throw .busy }
        // Another process may have changed, wiped or removed the entry.
        try reload()
        let slots = state.slotsDigest()
        let counted = try counter.read()
        if try counter.wipeDueRecords(counted, in: state.sealedLines, by: slots, at: reading) {
            try reload()
        }
        let attempts = counted.pruned(to: state.countedLines, of: state.generation)
        let record = state.records[try state.index(of: id)]
        try record.expectCheckable(counting: attempts, by: slots)
        // A check here would replace the failures that have wiped the entry in the other file.
        guard try !location.wipesElsewhere(by: counted).contains(id) else { throw .wiped }
        guard record.line.accessControl.presence.accepts(grade) else {
            throw .differentCheckRequired
        }
        // If all running checks together could exceed the entry's limit, refuse to start another
        // check. Attempts of killed processes do not count as running.
        if attempts.mayBecomeDue(record.line, by: slots) {
            guard try counter.isNoCheckRunning() else { throw .busy }
        }
        let subjects = record.line.subjects(isGuess: isGuess)
        var begun = attempts
        for subject in subjects {
            switch begun.admission(of: subject, at: reading) {
            case .wait(let seconds, _):
                // From now on, this clock measures the wait; the attempt has not begun.
                var moved = attempts
                moved[subject] = attempts[subject]?.moved(to: reading) ?? attempts[subject]
                if moved != attempts { _ = counter.settle(moved) }
                throw .lockedOut(seconds: Int64(seconds))
            case .full: throw .overLimit(.countedEntries)
            case .begun(let next): begun = next
            }
        }
        let asked = try AskedPresence(location, of: state.vaultID)
        try counter.save(begun)
        return PendingAttempt(
            line: record.line, subjects: subjects, before: attempts, with: begun,
            reading: reading, asked: asked)
    }

    /// For a vault that cannot be written: throws if the entry is locked out or must be wiped.
    func expectNoWait(
        of id: RecordID, checkedBy grade: any PresenceGrade.Type, isGuess: Bool,
        at reading: ClockReading
    ) throws(VaultError) {
        let line = state.records[try state.index(of: id)].line
        guard line.accessControl.presence.accepts(grade) else { throw .differentCheckRequired }
        let attempts = try attempts()
        guard !attempts.isDue(line, by: state.slotsDigest()) else { throw .wipingDue }
        for subject in line.subjects(isGuess: isGuess) {
            let rest = attempts[subject]?.rest(at: reading) ?? 0
            guard rest == 0 else { throw .lockedOut(seconds: Int64(rest)) }
        }
    }

    /// Records a failed check, and wipes the entry if its limit is reached.
    ///
    /// The failures that it adds to the vault cost a wait, but wipe no other entry.
    func refuse(_ tried: borrowing PendingAttempt, at reading: ClockReading)
        throws(VaultError) -> RefusalCost
    {
        let counter = try AttemptCounter(location, of: state.vaultID)
        let line = tried.line
        let slots = state.slotsDigest()
        var attempts = try counter.read()
        for subject in tried.subjects {
            attempts = attempts.deciding(subject, .refused(by: nil), at: reading)
        }
        try counter.save(attempts)
        if attempts.isDue(line, by: slots) {
            _ = try counter.wipeDueRecords(attempts, in: [line], by: slots, at: reading)
            try reload()
            return .wiped
        }
        let failures = tried.subjects.compactMap { attempts[$0] }
        let rest = failures.map { $0.rest(at: reading) }.max() ?? 0
        guard rest == 0 else { return .wait(seconds: Int64(rest)) }
        let (free, counted) = (
            LockOutPolicy.firstFailureWithWait - 1, failures.map(\.count).max() ?? 0
        )
        var left = free > counted ? free - counted : 0
        if case .wipe(let limit) = line.accessControl.onFailure {
            left = min(left, UInt64(limit.value) - attempts.refusals(of: line, by: slots) - 1)
        }
        return .free(left: Int(left))
    }

    /// Removes an attempt that was not made.
    ///
    /// If removing it fails, one undecided attempt too many stays counted until the next success.
    func withdraw(_ tried: borrowing PendingAttempt) {
        do throws(VaultError) {
            let counter = try AttemptCounter(location, of: state.vaultID)
            try counter.save(counter.read().withdrawing(tried))
        } catch _ {}
    }

    /// Records a successful check.
    func accept(_ tried: borrowing PendingAttempt) throws(VaultError) {
        let counter = try AttemptCounter(location, of: state.vaultID)
        // Failed attempts at the vault may have wiped the entry in the meantime; in that case, the
        // entry must not be opened.
        try reload()
        let record = state.records[try state.index(of: tried.line.id)]
        let attempts = try counter.read()
        let slots = state.slotsDigest()
        try record.expectCheckable(counting: attempts, by: slots)
        // The failures that require a wipe stay counted until the wipe is complete.
        let clearsVault =
            tried.subjects.contains(.vault)
            && attempts.due(in: state.countedLines, by: slots).isEmpty
        var left = attempts
        if clearsVault {
            left = try counter.afterSuccess(attempts.withdrawing(tried), by: slots)
        }
        left[tried.line.subject] = nil
        left = left.restored(after: tried)
        if left != attempts { try counter.save(left) }
    }

    /// Throws if the entry must still be wiped, for instance because the disk was full or
    /// read-only.
    func expectNotDue(_ record: VaultState.Record) throws(VaultError) {
        guard record.isSealed || record.isWipedWithoutKey,
            case .wipe = record.line.accessControl.onFailure
        else { return }
        guard try !attempts().isDue(record.line, by: state.slotsDigest()) else {
            throw record.isSealed ? .wipingDue : .wiped
        }
    }

    /// Clears the failures of an entry, unless it is locked out.
    func settle(_ line: RecordLine, at reading: ClockReading) throws(VaultError) {
        guard let failures = try attempts()[line.subject] else { return }
        let rest = failures.rest(at: reading)
        guard rest == 0 else { throw .lockedOut(seconds: Int64(rest)) }
        guard !isReadOnly else { return }
        let counter = try AttemptCounter(location, of: state.vaultID)
        var attempts = try counter.read()
        attempts[line.subject] = nil
        try counter.save(attempts)
    }
}
