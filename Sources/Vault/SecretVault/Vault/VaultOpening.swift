internal import WatchwordCryptography
internal import WatchwordSystem

/// A vault file that is being opened.
struct VaultOpening: ~Copyable {
    private let location: VaultLocation
    private let folder: Folder
    private let reading: () -> ClockReading
    private let seen: SeenGenerations
    private var file: OpenPrivateFile
    private var document: VaultDocument
    private var notCleared: VaultReport?
    /// Whether the failures must be cleared once the wipes that they caused are listed.
    private var clearsLater = false

    init(_ path: String, at reading: @escaping () -> ClockReading) throws(VaultError) {
        let location = try VaultLocation(path)
        let folder = try location.openFolder()
        // A writer saves the vault before the generation record. A record that is read before the
        // vault is therefore never newer than the file.
        let own = try GenerationRecord.read(of: location)
        let file = try location.hold(in: folder)
        let document = try VaultDocument(parsing: file.bytes)
        let mark = own?.of(document.vaultID)
        seen = SeenGenerations(
            own: mark, former: mark == nil ? location.formerRecord(of: document.vaultID) : nil)
        self.document = document
        self.file = file
        self.location = location
        self.folder = folder
        self.reading = reading
    }

    func attempts() throws(VaultError) -> Attempts {
        try Attempts.read(location, of: document.vaultID)
    }

    /// Counts the attempt, makes it, and records the outcome.
    ///
    /// The counter stays locked, so attempts run one after another. Concurrent attempts then cannot
    /// exceed the limit, and no attempt is refused because of another one that succeeds.
    mutating func slot(passphrase: SecretBytes, ceiling: Int) throws(VaultError) -> OpenedSlot {
        let opener = VaultOpener.passphrase(passphrase)
        guard document.hasSlot(for: opener, ceiling: ceiling) else {
            return try document.opened(with: opener, ceiling: ceiling)
        }
        let counter = try AttemptCounter(location, of: document.vaultID)
        try reload()
        let attempts = try wipeDueRecords(counter)
        return try SignalQueue.holdingBack(SignalQueue.interruptions) {
            () throws(VaultError) in
            let begun = try admitted(attempts, counter)
            let outcome = document.outcome(of: opener, ceiling: ceiling)
            switch outcome {
            case .opened:
                clearsLater = awaitsListing(attempts)
                notCleared = counter.settle(
                    clearsLater ? attempts : try afterSuccess(attempts, counter))
            case .refused:
                let refused = begun.deciding(.vault, .refused(by: refuser()), at: reading())
                try VaultError.recording(counter.save(refused))
                _ = try VaultError.recording(wipeDueRecords(counter))
            case .undecided: break  // The attempt stays undecided, and costs a wait.
            case .notTried: _ = counter.settle(attempts)
            }
            return try outcome.get()
        } otherwise: {
            .system($0)
        }
    }

    /// Tries `opener` on a vault for which attempts cannot be counted; a wait that is not over
    /// still applies.
    func slotWithoutCounting(with opener: VaultOpener, ceiling: Int) throws(VaultError)
        -> OpenedSlot
    {
        guard try !canCountAttempts() else { throw .writable }
        if case .passphrase = opener {
            let attempts = try attempts()
            guard !document.hasSecret(ofAny: due(attempts)) else { throw .wipingDue }
            let rest = attempts.vault?.rest(at: reading()) ?? 0
            guard rest == 0 else { throw .lockedOut(seconds: Int64(rest)) }
        }
        return try document.opened(with: opener, ceiling: ceiling)
    }

    private func canCountAttempts() throws(VaultError) -> Bool {
        do throws(VaultError) {
            let counter = try AttemptCounter(location, of: document.vaultID)
            try counter.save(counter.read())
            return true
        } catch .notCounted(let failure) where failure.isWriteForbidden {
            return false
        }
    }

    /// Tries a recovery key or a device's secret; works even if attempts cannot be counted.
    mutating func slot(uncounted opener: VaultOpener, ceiling: Int) throws(VaultError)
        -> OpenedSlot
    {
        do throws(VaultError) {
            if try !attempts().isEmpty {
                let counter = try AttemptCounter(location, of: document.vaultID)
                try reload()
                _ = try wipeDueRecords(counter)
            }
        } catch {
            notCleared = .failuresNotCleared(error)
        }
        let slot = try document.opened(with: opener, ceiling: ceiling)
        do throws(VaultError) {
            // A device that needs no person is available to an attacker, too, so it does not clear
            // the count.
            if opener.provesPresence, try attempts().vault != nil {
                let counter = try AttemptCounter(location, of: document.vaultID)
                let attempts = try counter.read()
                // A wipe that failed must still be made.
                clearsLater = awaitsListing(attempts)
                if !clearsLater { try counter.save(try afterSuccess(attempts, counter)) }
            }
        } catch {
            notCleared = .failuresNotCleared(error)
        }
        return slot
    }

    consuming func unlocked(
        by slot: OpenedSlot, ceiling: Int, isReadOnly: Bool
    ) throws(VaultError) -> UnlockedVault {
        let (state, key) = (slot.state, slot.key)
        let reports = [
            try location.exposure(of: folder), notCleared, isReadOnly ? .failuresNotCounted : nil,
            try seen.newest?.reportOnKey(of: state, with: key),
            location.unmergedPrevious(of: state, with: key, after: seen.newest),
        ]
        let linked = try LinkedFileRecord.read(of: location)
        if !isReadOnly { recordOpened(state, with: key) }
        let vault = UnlockedVault(
            slot, at: location, ceiling: ceiling, isReadOnly: isReadOnly,
            reports: FoundReports(
                generation: seen.newest?.report(on: document, with: state.history),
                others: reports.compactMap { $0 } + linked.map { VaultReport($0) }
                    + location.conflictingCopies(of: state, with: key, in: folder)))
        vault.clearsFailures = clearsLater
        return vault
    }

    /// The digest under which a refusal is counted.
    ///
    /// A refusal counts towards a wipe only if the file has the slots with which it was last opened
    /// or saved here.
    private func refuser() -> SlotsDigest {
        let slots = document.slotsDigest
        let known = SlotsRecord.read(of: location, vaultID: document.vaultID) ?? slots
        return known == slots ? slots : slots.elsewhere()
    }

    /// Records the file that was opened with its key, and also its slots if they have changed.
    private func recordOpened(_ state: VaultState, with key: VaultKey) {
        let known = SlotsRecord.read(of: location, vaultID: document.vaultID)
        location.record(
            opened: document, state, with: key, after: seen,
            recordsSlots: known != document.slotsDigest)
    }

    private func admitted(_ attempts: Attempts, _ counter: borrowing AttemptCounter)
        throws(VaultError) -> Attempts
    {
        switch attempts.admission(of: .vault, at: reading()) {
        case .wait(let seconds, let moved):
            // If this write fails, the only effect is that the next attempt waits longer.
            if moved != attempts { _ = counter.settle(moved) }
            throw .lockedOut(seconds: Int64(seconds))
        case .full: throw .overLimit(.countedEntries)
        case .begun(let begun):
            try counter.save(begun)
            return begun
        }
    }

    /// Completes an interrupted wipe, if there is one.
    mutating func completeInterruptedWipe() throws(VaultError) {
        // Running attempts hold the lock, so take it only if a wipe is due.
        guard try document.hasSecret(ofAny: due(attempts())) else { return }
        let counter = try AttemptCounter(location, of: document.vaultID)
        try reload()
        _ = try wipeDueRecords(counter)
    }

    /// Wipes the records that have reached their limit, including those of an interrupted wipe.
    ///
    /// - Returns: the attempts that are counted at present.
    private mutating func wipeDueRecords(_ counter: borrowing AttemptCounter) throws(VaultError)
        -> Attempts
    {
        let attempts = try counter.read()
        // Once the secrets are gone, the next save with the key completes the wipe.
        guard document.hasSecret(ofAny: due(attempts)) else { return attempts }
        let isWiped = try counter.wipeDueRecords(
            attempts, in: document.countedLines, by: document.slotsDigest, at: reading())
        if isWiped { try reload() }
        return attempts
    }

    /// The records that must be wiped, and those whose wipe is not complete.
    private func due(_ attempts: Attempts) -> Set<RecordID> {
        attempts.due(in: document.countedLines, by: document.slotsDigest)
    }

    /// Whether the failures must stay until the wipes that they require are complete.
    ///
    /// Wipes in an older file that was restored are never listed.
    private func awaitsListing(_ attempts: Attempts) -> Bool {
        let due = due(attempts)
        guard !due.isEmpty, !document.hasSecret(ofAny: due) else { return !due.isEmpty }
        return seen.newest?.isNewer(than: document.generation, of: document.vaultID) != true
    }

    /// The counts after an attempt succeeded and the file was authenticated.
    ///
    /// Before authentication, the file's records do not show which counts are obsolete: anyone who
    /// can write the file can remove records.
    private func afterSuccess(_ attempts: Attempts, _ counter: borrowing AttemptCounter)
        throws(VaultError) -> Attempts
    {
        try counter.afterSuccess(
            attempts.pruned(to: document.countedLines, of: document.generation),
            by: document.slotsDigest)
    }

    private func isUnchanged() throws(VaultError) -> Bool {
        try VaultError.system(in: file.isUnchanged(location.name, in: folder))
    }

    // Another process may have saved or wiped while this one waited for the lock.
    private mutating func reload() throws(VaultError) {
        guard try !isUnchanged() else { return }
        file = try location.hold(in: folder)
        document = try VaultDocument(parsing: file.bytes)
    }
}
