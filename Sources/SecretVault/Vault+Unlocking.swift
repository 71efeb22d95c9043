internal import Cryptography
internal import POSIX

extension Vault {
    /// Opens the vault at `path`.
    ///
    /// A passphrase is counted as a failure, on the disk, before it is tried; the count goes when
    /// it was right, and also when it could not be tried. After five failures in a row there is a
    /// wait. Records that so many failures are to wipe are wiped before anything is tried, and
    /// again before the answer. A recovery key can't be guessed, so it is not counted, opens during
    /// a wait, and takes the count away.
    ///
    /// What the file's slots ask for is paid up to `ceiling`, the cheapest slot first.
    ///
    /// Where entries were wiped without the vault key, the vault is saved, so that the list of the entries
    /// knows of it and no older file can bring their secrets back.
    ///
    /// - Parameter ceiling: the base-two logarithm of the most that scrypt's Ns of all slots that are
    ///   tried may be together; 20 is a gigabyte of memory.
    /// - Throws: ``VaultError/wrongPassphrase``; ``VaultError/lockedOut(seconds:)``;
    ///   ``VaultError/notCounted(_:)`` and ``VaultError/inTheWay(name:)`` when the try could not be
    ///   counted, and was not made; what wiping throws.
    public static func unlock(
        at path: String, with opener: VaultOpener, ceiling: Int = standardCeiling,
        reading: ClockReading = .now()
    ) throws(VaultError) -> UnlockedVault {
        var opening = try VaultOpening(path, at: reading)
        let key: (VaultKey, slot: Int)
        switch opener {
        case .passphrase(let passphrase):
            key = try opening.key(passphrase: passphrase, ceiling: ceiling)
        case .recoveryKey: key = try opening.key(recovery: opener, ceiling: ceiling)
        }
        let vault = try opening.unlocked(with: key.0, slot: key.slot, ceiling: ceiling)
        vault.listTombstones()
        return vault
    }

    /// The most that an unlocking costs unless its caller allows more: scrypt with N = 2^20, which takes
    /// a gigabyte of memory and a few seconds.
    public static var standardCeiling: Int { 20 }

    /// The most that an unlocking costs, whatever its caller allows.
    public static var greatestCeiling: Int { VaultLimits.unlockCeiling }

    /// What is counted against the vault at `path`: to be asked before somebody is asked for a
    /// passphrase.
    ///
    /// Records that somebody was killed at wiping are wiped first: who has to wait begins nothing
    /// else.
    public static func lockOut(at path: String, reading: ClockReading = .now())
        throws(VaultError) -> LockOut
    {
        var opening = try VaultOpening(path, at: reading)
        try opening.wipeWhatWasLeft()
        return LockOut(try opening.attempts().vault, at: reading)
    }
}

/// A vault's file on the way to being open.
private struct VaultOpening: ~Copyable {
    private let location: VaultLocation
    private let folder: Folder
    private let reading: ClockReading
    private let mark: GenerationMark?
    private var file: HeldFile
    private var document: VaultDocument
    private var notCleared: VaultReport?

    init(_ path: String, at reading: ClockReading) throws(VaultError) {
        let location = try VaultLocation(path)
        let folder = try location.openFolder()
        // The mark is written after the vault: read before it, it is never ahead of a saving that
        // somebody else makes meanwhile.
        let mark = GenerationMark.read(location, in: folder)
        let file = try location.hold(in: folder)
        document = try VaultDocument(parsing: file.bytes)
        self.file = file
        self.mark = mark
        self.location = location
        self.folder = folder
        self.reading = reading
    }

    func attempts() throws(VaultError) -> Attempts {
        try Attempts.read(location, in: folder, of: document.vaultID)
    }

    /// Counts, tries, and takes the count away again unless the answer is no.
    ///
    /// The counter is held all the while, so that tries are made one after the other: of many at
    /// once none is refused because of others that turn out to be right, and none is made beside
    /// those that are allowed.
    mutating func key(passphrase: SecretBytes, ceiling: Int) throws(VaultError)
        -> (VaultKey, slot: Int)
    {
        let opener = VaultOpener.passphrase(passphrase)
        guard document.hasSlot(for: opener, ceiling: ceiling) else {
            return try document.key(with: opener, ceiling: ceiling)
        }
        let counter = try AttemptCounter(location)
        try readAgain()
        let attempts = try wipeWhatIsDue(counter).pruned(
            to: document.records, of: document.generation)
        let counted = try admitted(attempts, counter)
        let key: (VaultKey, slot: Int)
        do throws(SlotRefusal) {
            key = try document.openedKey(with: opener, ceiling: ceiling)
        } catch {
            if error.isAnswer {
                _ = try wipeWhatIsDue(counter)
            } else {
                var before = counted
                before.vault = counted.vault?.withoutLast()
                _ = counter.settle(before)
            }
            throw error.error
        }
        notCleared = counter.settle(counted.withoutVault())
        return key
    }

    /// Tries a recovery key; whatever hinders counting does not hinder that.
    mutating func key(recovery opener: VaultOpener, ceiling: Int) throws(VaultError)
        -> (VaultKey, slot: Int)
    {
        do throws(VaultError) {
            if try !attempts().isEmpty {
                let counter = try AttemptCounter(location)
                try readAgain()
                _ = try wipeWhatIsDue(counter)
            }
        } catch {
            notCleared = .failuresNotCleared(error)
        }
        let key = try document.key(with: opener, ceiling: ceiling)
        do throws(VaultError) {
            if try attempts().vault != nil {
                let counter = try AttemptCounter(location)
                try counter.save(counter.read(of: document.vaultID).withoutVault())
            }
        } catch {
            notCleared = .failuresNotCleared(error)
        }
        return key
    }

    consuming func unlocked(with key: VaultKey, slot: Int, ceiling: Int) throws(VaultError)
        -> UnlockedVault
    {
        UnlockedVault(
            location: location, key: key, slot: slot, ceiling: ceiling,
            state: try VaultState(verifying: document, with: key),
            markReport: mark?.report(on: document),
            reports: [try location.exposure(of: folder), notCleared].compactMap { $0 })
    }

    private func admitted(_ attempts: Attempts, _ counter: borrowing AttemptCounter)
        throws(VaultError) -> Attempts
    {
        switch attempts.admission(of: .vault, at: reading) {
        case .wait(let seconds, let moved):
            // Not written, the wait is longer by as much as this would have told the next one.
            if moved != attempts { _ = counter.settle(moved) }
            throw .lockedOut(seconds: Int64(seconds))
        case .counted(let counted):
            try counter.save(counted)
            return counted
        }
    }

    /// Wipes what somebody was killed at, where there is anything.
    mutating func wipeWhatWasLeft() throws(VaultError) {
        // Nobody is kept waiting for the lock of those who try, unless there is.
        guard try !attempts().due(in: document.records, settled: true).isEmpty else { return }
        let counter = try AttemptCounter(location)
        try readAgain()
        _ = try wipeWhatIsDue(counter)
    }

    /// Wipes what so many failures are to wipe, and what somebody was killed at.
    ///
    /// - Returns: what is counted now.
    private mutating func wipeWhatIsDue(_ counter: borrowing AttemptCounter) throws(VaultError)
        -> Attempts
    {
        let attempts = try counter.read(of: document.vaultID)
        guard !attempts.isEmpty else { return attempts }
        let left = try counter.wipeWhatIsDue(attempts, in: document.records, at: reading)
        if left != nil { try readAgain() }
        return left ?? attempts
    }

    private func isStill() throws(VaultError) -> Bool {
        do { return try file.isStill(location.name, in: folder) } catch { throw .system(error) }
    }

    // Somebody may have saved or wiped while this one waited.
    private mutating func readAgain() throws(VaultError) {
        guard try !isStill() else { return }
        file = try location.hold(in: folder)
        document = try VaultDocument(parsing: file.bytes)
    }
}

extension AttemptCounter {
    /// Wipes the records of `lines` that so many failures are to wipe.
    ///
    /// - Parameter asked: the record that the caller's own check has just said no to; of the others
    ///   that somebody is asked about, the last failure may turn out to be none.
    /// - Returns: what is counted after that; `nil` when nothing was due.
    func wipeWhatIsDue(
        _ attempts: Attempts, in lines: [RecordLine], asked: RecordID? = nil,
        at reading: ClockReading
    ) throws(VaultError) -> Attempts? {
        let settled = attempts.records.isEmpty ? false : try isNobodyAsked()
        var due = attempts.due(in: lines, settled: settled)
        if let asked, let line = lines.first(where: { $0.id == asked }),
            attempts.isDue(line, settled: true)
        {
            due.insert(asked)
        }
        guard !due.isEmpty else { return nil }
        try wipe(due, at: reading)
        let left = attempts.without(due)
        // Should this fail, the next one finds nothing more to wipe.
        if left != attempts { _ = settle(left) }
        return left
    }
}
