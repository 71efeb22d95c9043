internal import POSIX
internal import Presence

/// An attempt that is recorded and undecided.
struct PendingAttempt: ~Copyable {
    let line: RecordLine
    /// The counts before the attempt began, and after.
    let before: Failures?
    let with: Failures?
    let reading: ClockReading
    let asked: AskedPresence
}

// Counts attempts at entries that require a check at each use.
extension UnlockedVault {
    /// The failures that are counted against the vault and its records.
    func attempts() throws(VaultError) -> Attempts {
        try Attempts.read(location, of: state.vaultID)
    }

    /// Records an attempt at the entry, unless the entry is locked out.
    func begin(
        _ id: RecordID, checkedBy grade: any PresenceGrade.Type, at reading: ClockReading
    ) throws(VaultError) -> PendingAttempt {
        let counter = try AttemptCounter(location, of: state.vaultID)
        guard mayChange() else { throw .busy }
        // Another process may have changed, wiped or removed the entry.
        try reload()
        let slots = try state.slotsDigest()
        let counted = try counter.read()
        if try counter.wipeDueRecords(counted, in: state.sealedLines, by: slots, at: reading) {
            try reload()
        }
        let attempts = counted.pruned(to: state.countedLines, of: state.generation)
        let record = state.records[try state.index(of: id)]
        guard case .sealed = record.body else { throw .wiped }
        guard record.line.accessControl.presence.accepts(grade) else {
            throw .differentCheckRequired
        }
        // If all running checks together could exceed the entry's limit, refuse to start another.
        // Attempts of killed processes do not count as running.
        if attempts.mayBecomeDue(record.line, by: slots) {
            guard try counter.isNoCheckRunning() else { throw .busy }
        }
        let subject = record.line.subject
        switch attempts.admission(of: subject, at: reading) {
        case .wait(let seconds, let moved):
            if moved != attempts { _ = counter.settle(moved) }
            throw .lockedOut(seconds: Int64(seconds))
        case .full: throw .overLimit(.countedEntries)
        case .begun(let begun):
            let asked = try AskedPresence(location, of: state.vaultID)
            try counter.save(begun)
            return PendingAttempt(
                line: record.line, before: attempts[subject], with: begun[subject],
                reading: reading, asked: asked)
        }
    }

    /// For a vault that cannot be written: throws if the entry is locked out or must be wiped.
    func expectNoWait(
        of id: RecordID, checkedBy grade: any PresenceGrade.Type, at reading: ClockReading
    ) throws(VaultError) {
        let line = state.records[try state.index(of: id)].line
        guard line.accessControl.presence.accepts(grade) else { throw .differentCheckRequired }
        let attempts = try attempts()
        guard try !attempts.isDue(line, by: state.slotsDigest()) else { throw .wipingDue }
        let rest = attempts[line.subject]?.rest(at: reading) ?? 0
        guard rest == 0 else { throw .lockedOut(seconds: Int64(rest)) }
    }

    /// Records a failed check, and wipes the entry if its limit is reached.
    func refuse(_ tried: borrowing PendingAttempt, at reading: ClockReading)
        throws(VaultError) -> RefusalCost
    {
        let counter = try AttemptCounter(location, of: state.vaultID)
        let line = tried.line
        let slots = try state.slotsDigest()
        let attempts = try counter.read().deciding(
            line.subject, .refused(by: slots), at: reading)
        try counter.save(attempts)
        if attempts.isDue(line, by: slots) {
            _ = try counter.wipeDueRecords(attempts, in: [line], by: slots, at: reading)
            try reload()
            return .wiped
        }
        let failures = attempts[line.subject]
        if let rest = failures?.rest(at: reading), rest > 0 { return .wait(seconds: Int64(rest)) }
        let (free, counted) = (Failures.free - 1, failures?.count ?? 0)
        var left = free > counted ? free - counted : 0
        if case .wipe(let limit) = line.accessControl.onFailure {
            left = min(left, UInt64(limit.value) - attempts.refusals(of: line, by: slots) - 1)
        }
        return .free(left: Int(left))
    }

    /// Removes an attempt that was not made.
    ///
    /// If this fails, one undecided attempt too many stays counted until the next success.
    func withdraw(_ tried: borrowing PendingAttempt) {
        do throws(VaultError) {
            let counter = try AttemptCounter(location, of: state.vaultID)
            let outcome = Attempts.Outcome.notMade(before: tried.before, with: tried.with)
            try counter.save(
                counter.read().deciding(tried.line.subject, outcome, at: tried.reading))
        } catch _ {}
    }

    /// Records a successful check.
    func accept(_ tried: borrowing PendingAttempt) throws(VaultError) {
        let counter = try AttemptCounter(location, of: state.vaultID)
        // Failed attempts at the vault may have wiped the entry in the meantime; in that case it
        // must not be opened.
        try reload()
        let record = state.records[try state.index(of: tried.line.id)]
        guard case .sealed = record.body else { throw .wiped }
        try clear(tried.line, by: counter)
    }

    private func clear(_ line: RecordLine, by counter: borrowing AttemptCounter)
        throws(VaultError)
    {
        let attempts = try counter.read()
        guard attempts[line.subject] != nil else { return }
        try counter.save(attempts.deciding(line.subject, .opened, at: .now()))
    }

    /// Clears the failures of an entry, unless it is locked out.
    func settle(_ line: RecordLine, at reading: ClockReading) throws(VaultError) {
        guard let failures = try attempts()[line.subject] else { return }
        let rest = failures.rest(at: reading)
        guard rest == 0 else { throw .lockedOut(seconds: Int64(rest)) }
        if !isReadOnly {
            try clear(line, by: AttemptCounter(location, of: state.vaultID))
        }
    }
}
