internal import POSIX

/// The one who may count against a vault: holds the lock of its file of attempts for as long as it lives.
///
/// Where somebody holds this lock and the vault's, this one was taken first.
struct AttemptCounter: ~Copyable {
    private let location: VaultLocation
    private let vaultID: [UInt8]
    private let folder: Folder
    private let lock: FileLock

    /// How long an attempt waits for those before it, each of which derives a key meanwhile.
    static let timeout = Duration.seconds(30)

    /// Waits for the lock.
    ///
    /// - Throws: ``VaultError/busy``, ``VaultError/notCounted(_:)``.
    init(
        _ location: VaultLocation, of vaultID: [UInt8], timeout: Duration = AttemptCounter.timeout
    ) throws(VaultError) {
        let folder = try AttemptCounter.folder(location, of: vaultID)
        lock = try AttemptCounter.take(
            VaultLocation.attemptsLock, of: vaultID, in: folder, timeout: timeout)
        self.folder = folder
        self.location = location
        self.vaultID = vaultID
    }

    /// Makes everything that counting needs room for, so that it can be done on a full disk later.
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
        do throws(VaultError) {
            return try location.makeCount(of: vaultID)
        } catch .system(let failure) {
            throw .notCounted(failure)
        }
    }

    fileprivate static func take(
        _ name: String, of vaultID: [UInt8], in folder: borrowing Folder, sharing: Bool = false,
        timeout: Duration
    ) throws(VaultError) -> FileLock {
        do throws(FileLockError) {
            return try FileLock(name, in: folder, sharing: sharing, timeout: timeout)
        } catch {
            let error = VaultError(error, path: VaultLocation.pathOfCount(name, of: vaultID))
            guard case .system(let failure) = error else { throw error }
            throw .notCounted(failure)
        }
    }

    /// What is counted against the vault.
    func read() throws(VaultError) -> Attempts { try file()?.attempts ?? Attempts(of: vaultID) }

    private func file() throws(VaultError) -> AttemptsFile? {
        try AttemptsFile.read(in: folder, of: vaultID)
    }

    /// Puts `attempts` on the disk.
    ///
    /// - Throws: ``VaultError/notCounted(_:)``, ``VaultError/inTheWay(name:)``.
    func save(_ attempts: Attempts) throws(VaultError) {
        let whole = try AttemptsFile.holding(attempts)
        let change = try file().flatMap { file throws(VaultError) in
            file.isWhole ? try file.writing(attempts) : nil
        }
        do {
            if let change {
                try folder.overwrite(
                    VaultLocation.attempts, at: change.offset, with: change.bytes.span)
            } else {
                let file = FileReplacement(
                    of: VaultLocation.attempts, beginningWith: Attempts.beginning(of: vaultID))
                try file.replace(with: whole.span, in: folder, previous: .none)
            }
        } catch {
            switch error {
            case .inTheWay: throw VaultLocation.error(error, of: vaultID)
            case .changed: throw .changedMeanwhile
            case .system(let failure), .notConfirmed(let failure): throw .notCounted(failure)
            }
        }
    }

    /// Puts `attempts` on the disk, or reports why not; for what makes nobody try more often.
    func settle(_ attempts: Attempts) -> VaultReport? {
        do {
            try save(attempts)
            return nil
        } catch {
            return .failuresNotCleared(error)
        }
    }

    /// Wipes the records of `lines`, in the file with these slots, that so many refused attempts are to wipe.
    ///
    /// - Returns: what is counted after that; `nil` when nothing was due.
    func wipeWhatIsDue(
        _ attempts: Attempts, in lines: [RecordLine], by slots: SlotsDigest,
        at reading: ClockReading
    ) throws(VaultError) -> Attempts? {
        let due = attempts.due(in: lines, by: slots)
        guard !due.isEmpty else { return nil }
        let time = Int64(min(reading.wall, VaultLimits.number))
        try VaultWriter(location).wipe(due, leaving: Tombstone(time: time, reason: .failures))
        let left = attempts.without(due)
        // Should this fail, the next one finds nothing more to wipe.
        if left != attempts { _ = settle(left) }
        return left
    }

    /// Whether nobody is being asked for their presence; nobody begins to be while this counter lives.
    func isNobodyAsked() throws(VaultError) -> Bool {
        do throws(VaultError) {
            _ = try AttemptCounter.take(
                VaultLocation.presenceLock, of: vaultID, in: folder, timeout: .zero)
            return true
        } catch .busy {
            return false
        }
    }
}

/// Somebody is being asked for their presence, with an attempt that is not decided; the kernel forgets
/// it when the process dies.
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
    /// Reads what is counted against the vault; no lock is needed.
    ///
    /// - Throws: ``VaultError/inTheWay(name:)``, ``VaultError/newerAttempts(_:)``,
    ///   ``VaultError/notCounted(_:)``.
    static func read(_ location: VaultLocation, of vaultID: [UInt8]) throws(VaultError) -> Attempts
    {
        guard let folder = try location.openCount(of: vaultID) else { return Attempts(of: vaultID) }
        for _ in 0..<2 {
            guard let file = try AttemptsFile.read(in: folder, of: vaultID) else { break }
            // Both slots may be half-written to a reader who is slower than two writers.
            if file.isWhole { return file.attempts }
        }
        return try AttemptsFile.read(in: folder, of: vaultID)?.attempts ?? Attempts(of: vaultID)
    }
}

extension AttemptsFile {
    /// Reads the file of the vault `vaultID`; `nil` when there is none.
    fileprivate static func read(in folder: borrowing Folder, of vaultID: [UInt8])
        throws(VaultError) -> AttemptsFile?
    {
        let bytes: [UInt8]
        do {
            bytes = try folder.readPrivateFile(
                VaultLocation.attempts, limit: 2 * AttemptsFile.slotCount)
        } catch {
            switch error {
            case .missing: return nil
            case .system(let failure): throw .notCounted(failure)
            default:
                throw .inTheWay(
                    name: VaultLocation.pathOfCount(VaultLocation.attempts, of: vaultID))
            }
        }
        return try AttemptsFile(reading: bytes, of: vaultID)
    }
}
