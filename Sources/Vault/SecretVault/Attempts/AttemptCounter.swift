internal import WatchwordSystem

/// Exclusive access to a vault's attempts file; holds the file's lock for the lifetime of the
/// value.
///
/// A process that needs both this lock and the vault's lock takes this one first.
struct AttemptCounter: ~Copyable {
    private let location: VaultLocation
    private let vaultID: [UInt8]
    private let folder: Folder
    private let lock: FileLock

    /// How long an attempt waits for earlier attempts, each of which derives a key.
    static let timeout = Duration.seconds(30)

    /// Takes the lock, waiting at most `timeout`.
    ///
    /// - Throws: ``VaultError/busy``, ``VaultError/notCounted(_:)``.
    init(
        _ location: VaultLocation, of vaultID: [UInt8], timeout: Duration = AttemptCounter.timeout
    ) throws(VaultError) {
        let folder = try AttemptCounter.folder(location, of: vaultID)
        let lock = try AttemptCounter.take(
            VaultLocation.attemptsLock, of: vaultID, in: folder, timeout: timeout)
        // A purge may have removed the folder while this process waited.
        let isHeld = try VaultError.counting(
            VaultError.system(in: lock.isHeld(as: VaultLocation.attemptsLock, in: folder)))
        guard isHeld else { throw .busy }
        self.lock = lock
        self.folder = folder
        self.location = location
        self.vaultID = vaultID
    }

    /// Creates all files that counting needs, so that attempts can still be counted when the disk
    /// is full.
    static func prepare(_ location: VaultLocation, of vaultID: [UInt8]) throws(VaultError) {
        do throws(VaultError) {
            let counter = try AttemptCounter(location, of: vaultID)
            try counter.save(counter.read())
            _ = try AskedPresence(location, of: vaultID)
        } catch .notCounted(let failure) {
            throw .system(failure)
        }
    }

    fileprivate static func folder(_ location: VaultLocation, of vaultID: [UInt8])
        throws(VaultError) -> Folder
    {
        try VaultError.counting(location.makeAttemptsFolder(of: vaultID))
    }

    fileprivate static func take(
        _ name: String, of vaultID: [UInt8], in folder: borrowing Folder, sharing: Bool = false,
        timeout: Duration
    ) throws(VaultError) -> FileLock {
        try VaultError.counting(
            VaultLocation.lock(
                name, in: folder, at: VaultLocation.attemptsParts(vaultID), sharing: sharing,
                timeout: timeout))
    }

    /// The attempts that are counted at present.
    func read() throws(VaultError) -> Attempts { try file()?.attempts ?? Attempts(of: vaultID) }

    private func file() throws(VaultError) -> AttemptsFile? {
        try AttemptsFile.read(in: folder, of: vaultID)
    }

    /// Writes `attempts` to disk.
    ///
    /// - Throws: ``VaultError/notCounted(_:)``, ``VaultError/inTheWay(name:)``.
    func save(_ attempts: Attempts) throws(VaultError) {
        let whole = AttemptsFile.holding(attempts)
        let change = try file().flatMap { file in
            file.isWhole ? file.writing(attempts) : nil
        }
        let parts = VaultLocation.attemptsParts(vaultID)
        if let change {
            let isOverwritten = try VaultError.counting(
                VaultError.system(
                    in: folder.overwrite(
                        VaultLocation.attempts, at: change.offset, with: change.bytes.span)))
            if isOverwritten { return }
        }
        let file = FileReplacement(
            of: VaultLocation.attempts, beginningWith: Attempts.beginning(of: vaultID))
        try VaultError.counting(
            VaultError.file(in: file.replace(with: whole.span, in: folder, previous: .none)) {
                VaultLocation.path(of: $0, in: parts)
            })
    }

    /// Writes `attempts` to disk, or returns a report with the reason for the failure.
    ///
    /// Only for changes that would not allow more attempts if they were lost.
    func settle(_ attempts: Attempts) -> VaultReport? {
        do {
            try save(attempts)
            return nil
        } catch {
            return .failuresNotCleared(error)
        }
    }

    /// The counts after an attempt succeeded in the file with these slots.
    ///
    /// The success proves nothing about a file with different slots, which may have a different
    /// passphrase. Refusals by such a file stay counted while the file exists. Refusals by this
    /// file stay counted until a wipe that they caused in another file is listed.
    func afterSuccess(_ attempts: Attempts, by slots: SlotsDigest) throws(VaultError) -> Attempts {
        let others = Set(attempts.refusals.keys).subtracting([slots, slots.elsewhere()])
        var kept = others.isEmpty ? [] : others.intersection(location.slotSets(of: vaultID))
        if try !location.wipesElsewhere(by: attempts).isEmpty { kept.insert(slots) }
        return attempts.withoutVault(except: kept)
    }

    /// Wipes the records of `lines` that have reached their limit of refused attempts in the file
    /// with these slots.
    ///
    /// The counts stay: without them, the next process with the vault key could not tell this wipe
    /// from a forged one.
    ///
    /// - Returns: whether any record had to be wiped.
    func wipeDueRecords(
        _ attempts: Attempts, in lines: [RecordLine], by slots: SlotsDigest,
        at reading: ClockReading
    ) throws(VaultError) -> Bool {
        let due = attempts.due(in: lines, by: slots)
        guard !due.isEmpty else { return false }
        let time = Int64(min(reading.wall, VaultLimits.number))
        // A kept generation is written only together with its vault.
        var writer = try VaultWriter(location.owner.map(VaultLocation.init) ?? location)
        try writer.wipe(
            due, counting: attempts, leaving: Tombstone(time: time, reason: .failures))
        return true
    }

    /// Removes the counts and the record of last uses; also removes the locks and the folder,
    /// unless a check is running.
    func remove() throws(VaultError) {
        var names = [VaultLocation.attempts, VaultLocation.uses]
        if try isNoCheckRunning() {
            names += [
                VaultLocation.usesLock, VaultLocation.presenceLock, VaultLocation.attemptsLock,
            ]
        }
        for name in names { try VaultError.system(in: folder.removeFile(name)) }
        try location.removeAttemptsFolder(of: vaultID)
    }

    /// Whether no presence check is running.
    ///
    /// No check can begin while this counter exists.
    func isNoCheckRunning() throws(VaultError) -> Bool {
        do throws(VaultError) {
            _ = try AttemptCounter.take(
                VaultLocation.presenceLock, of: vaultID, in: folder, timeout: .zero)
            return true
        } catch .busy {
            return false
        }
    }
}

/// A presence check that is running, with an undecided attempt.
///
/// The kernel releases its lock when the process dies.
struct AskedPresence: ~Copyable {
    private let lock: FileLock

    /// - Throws: ``VaultError/busy``, ``VaultError/notCounted(_:)``.
    init(_ location: VaultLocation, of vaultID: [UInt8]) throws(VaultError) {
        let folder = try AttemptCounter.folder(location, of: vaultID)
        lock = try AttemptCounter.take(
            VaultLocation.presenceLock, of: vaultID, in: folder, sharing: true,
            timeout: VaultWriter.timeout)
    }
}

extension Attempts {
    /// Reads the attempts file without taking its lock.
    ///
    /// - Throws: ``VaultError/inTheWay(name:)``, ``VaultError/newerAttempts(_:)``,
    ///   ``VaultError/notCounted(_:)``.
    static func read(_ location: VaultLocation, of vaultID: [UInt8]) throws(VaultError) -> Attempts
    {
        guard let folder = try location.openAttemptsFolder(of: vaultID) else {
            return Attempts(of: vaultID)
        }
        for _ in 0..<2 {
            guard let file = try AttemptsFile.read(in: folder, of: vaultID) else { break }
            // A reader that overlaps two writes may see both slots half-written.
            if file.isWhole { return file.attempts }
        }
        return try AttemptsFile.read(in: folder, of: vaultID)?.attempts ?? Attempts(of: vaultID)
    }
}

extension AttemptsFile {
    /// Reads the file of the vault `vaultID`; `nil` if there is none.
    fileprivate static func read(in folder: borrowing Folder, of vaultID: [UInt8])
        throws(VaultError) -> AttemptsFile?
    {
        let bytes = try VaultError.counting(
            VaultLocation.read(
                VaultLocation.attempts, in: folder, at: VaultLocation.attemptsParts(vaultID),
                limit: 2 * AttemptsFile.slotCount))
        guard let bytes else { return nil }
        return try AttemptsFile(reading: bytes, of: vaultID)
    }
}
