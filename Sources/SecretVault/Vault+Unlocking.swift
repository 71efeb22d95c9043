internal import Cryptography
internal import POSIX

extension Vault {
    /// Opens the vault at `path`.
    ///
    /// An attempt with a passphrase is written down before it is made, and its outcome before it is
    /// told: refused, or nothing any more. Interruptions are held back meanwhile; an attempt that stays
    /// undecided all the same costs a wait, but never a record; so does one that a slot refused while
    /// another slot was not tried. After five attempts in a row that did
    /// not open the vault there is a wait. Records that so many refused attempts are to wipe are wiped
    /// before anything is tried, and again before the answer. A recovery key can't be guessed, so it is
    /// not counted, opens during a wait, and clears the count.
    ///
    /// What the file's slots ask for is paid up to `ceiling`, the cheapest slot first.
    ///
    /// Where entries were wiped without the vault key, the vault is saved, so that the list of the entries
    /// knows of it and no older file can bring their secrets back.
    ///
    /// - Parameters:
    ///   - ceiling: the base-two logarithm of the most that scrypt's Ns of all slots that are tried may
    ///     be together; 20 is a gigabyte of memory.
    ///   - readOnly: whether to open a vault that really can't be written (a read-only file system, no
    ///     permission), without counting and only to read.
    /// - Throws: ``VaultError/wrongPassphrase``; ``VaultError/lockedOut(seconds:)``;
    ///   ``VaultError/notCounted(_:)`` and ``VaultError/inTheWay(name:)`` when the try could not be
    ///   counted, and was not made; ``VaultError/writable`` when it could be, although `readOnly`;
    ///   what wiping throws.
    public static func unlock(
        at path: String, with opener: VaultOpener, ceiling: Int = standardCeiling,
        readOnly: Bool = false,
        reading: @escaping @autoclosure () -> ClockReading = .now()
    ) throws(VaultError) -> UnlockedVault {
        var opening = try VaultOpening(path, at: reading)
        let key: (VaultKey, slot: Int)
        switch opener {
        case _ where readOnly: key = try opening.uncountedKey(with: opener, ceiling: ceiling)
        case .passphrase(let passphrase):
            key = try opening.key(passphrase: passphrase, ceiling: ceiling)
        case .recoveryKey: key = try opening.key(recovery: opener, ceiling: ceiling)
        }
        let vault = try opening.unlocked(
            with: key.0, slot: key.slot, ceiling: ceiling, readOnly: readOnly)
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
        var opening = try VaultOpening(path) { reading }
        try opening.wipeWhatWasLeft()
        return LockOut(try opening.attempts().vault, at: reading)
    }
}

/// A vault's file on the way to being open.
private struct VaultOpening: ~Copyable {
    private let location: VaultLocation
    private let folder: Folder
    private let reading: () -> ClockReading
    private let mark: GenerationMark?
    private var file: HeldFile
    private var document: VaultDocument
    private var notCleared: VaultReport?

    init(_ path: String, at reading: @escaping () -> ClockReading) throws(VaultError) {
        let location = try VaultLocation(path)
        let folder = try location.openFolder()
        // The mark is written after the vault: read before it, it is never ahead of a saving that
        // somebody else makes meanwhile.
        let mark = try VaultOpening.mark(location)
        let file = try location.hold(in: folder)
        document = try VaultDocument(parsing: file.bytes)
        self.file = file
        self.mark = mark
        self.location = location
        self.folder = folder
        self.reading = reading
    }

    private static func mark(_ location: VaultLocation) throws(VaultError) -> GenerationMark? {
        guard let own = try location.openOwn() else { return nil }
        return GenerationMark.read(in: own)
    }

    func attempts() throws(VaultError) -> Attempts {
        try Attempts.read(location, of: document.vaultID)
    }

    /// Counts, tries, and writes down what came of it.
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
        let counter = try AttemptCounter(location, of: document.vaultID)
        try readAgain()
        let attempts = try wipeWhatIsDue(counter).pruned(
            to: document.records, of: document.generation)
        return try SignalQueue.holdingBack(SignalQueue.interruptions) {
            () throws(VaultError) in
            let begun = try admitted(attempts, counter)
            let key: (VaultKey, slot: Int)
            do throws(SlotRefusal) {
                key = try document.openedKey(with: opener, ceiling: ceiling)
            } catch {
                switch error.outcome {
                case .refused:
                    try counter.save(
                        begun.deciding(
                            .vault, .refused(by: document.slotsDigest), at: reading()))
                    _ = try wipeWhatIsDue(counter)
                case .undecided: break  // It stays as it was begun: it costs a wait.
                case .notTried: _ = counter.settle(attempts)
                }
                throw error.error
            }
            notCleared = counter.settle(begun.withoutVault())
            return key
        } otherwise: {
            .system($0)
        }
    }

    /// Tries what is given where no attempt can be counted; a wait holds there, too.
    func uncountedKey(with opener: VaultOpener, ceiling: Int) throws(VaultError)
        -> (VaultKey, slot: Int)
    {
        guard try !canCount() else { throw .writable }
        if case .passphrase = opener {
            let attempts = try attempts()
            guard due(attempts).isEmpty else { throw .wipingDue }
            let rest = attempts.vault?.rest(at: reading()) ?? 0
            guard rest == 0 else { throw .lockedOut(seconds: Int64(rest)) }
        }
        return try document.key(with: opener, ceiling: ceiling)
    }

    private func canCount() throws(VaultError) -> Bool {
        do throws(VaultError) {
            let counter = try AttemptCounter(location, of: document.vaultID)
            try counter.save(counter.read())
            return true
        } catch .notCounted(let failure) where failure.meansReadOnly {
            return false
        }
    }

    /// Tries a recovery key; whatever hinders counting does not hinder that.
    mutating func key(recovery opener: VaultOpener, ceiling: Int) throws(VaultError)
        -> (VaultKey, slot: Int)
    {
        do throws(VaultError) {
            if try !attempts().isEmpty {
                let counter = try AttemptCounter(location, of: document.vaultID)
                try readAgain()
                _ = try wipeWhatIsDue(counter)
            }
        } catch {
            notCleared = .failuresNotCleared(error)
        }
        let key = try document.key(with: opener, ceiling: ceiling)
        do throws(VaultError) {
            if try attempts().vault != nil {
                let counter = try AttemptCounter(location, of: document.vaultID)
                let attempts = try counter.read()
                // A wipe that could not be done stays due.
                if !document.holdsSecret(ofAny: due(attempts)) {
                    try counter.save(attempts.withoutVault())
                }
            }
        } catch {
            notCleared = .failuresNotCleared(error)
        }
        return key
    }

    consuming func unlocked(with key: VaultKey, slot: Int, ceiling: Int, readOnly: Bool)
        throws(VaultError) -> UnlockedVault
    {
        let reports = [
            try location.exposure(of: folder), notCleared, readOnly ? .failuresNotCounted : nil,
        ]
        return UnlockedVault(
            location: location, key: key, slot: slot, ceiling: ceiling, readOnly: readOnly,
            state: try VaultState(verifying: document, with: key),
            markReport: mark?.report(on: document), reports: reports.compactMap { $0 })
    }

    private func admitted(_ attempts: Attempts, _ counter: borrowing AttemptCounter)
        throws(VaultError) -> Attempts
    {
        switch attempts.admission(of: .vault, at: reading()) {
        case .wait(let seconds, let moved):
            // Not written, the wait is longer by as much as this would have told the next one.
            if moved != attempts { _ = counter.settle(moved) }
            throw .lockedOut(seconds: Int64(seconds))
        case .full: throw .overLimit(.countedEntries)
        case .begun(let begun):
            try counter.save(begun)
            return begun
        }
    }

    /// Wipes what somebody was killed at, where there is anything.
    mutating func wipeWhatWasLeft() throws(VaultError) {
        // Nobody is kept waiting for the lock of those who try, unless there is.
        guard try !due(attempts()).isEmpty else { return }
        let counter = try AttemptCounter(location, of: document.vaultID)
        try readAgain()
        _ = try wipeWhatIsDue(counter)
    }

    /// Wipes what so many failures are to wipe, and what somebody was killed at.
    ///
    /// - Returns: what is counted now.
    private mutating func wipeWhatIsDue(_ counter: borrowing AttemptCounter) throws(VaultError)
        -> Attempts
    {
        let attempts = try counter.read()
        guard !attempts.isEmpty else { return attempts }
        let left = try counter.wipeWhatIsDue(
            attempts, in: document.records, by: document.slotsDigest, at: reading())
        if left != nil { try readAgain() }
        return left ?? attempts
    }

    private func due(_ attempts: Attempts) -> Set<RecordID> {
        attempts.due(in: document.records, by: document.slotsDigest)
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
