internal import POSIX

/// The one who may count: holds the lock of `vault.attempts` for as long as it lives.
///
/// Where somebody holds this lock and the vault's, this one was taken first.
struct AttemptCounter: ~Copyable {
    private let location: VaultLocation
    private let folder: Folder
    private let lock: FileLock

    /// Milliseconds that a try waits for those before it, each of which derives a key meanwhile.
    static let patience = 30_000

    /// Waits for the lock.
    ///
    /// - Throws: ``VaultError/busy``, ``VaultError/notCounted(_:)``.
    init(_ location: VaultLocation, patience: Int = AttemptCounter.patience) throws(VaultError) {
        self.location = location
        let folder = try location.openFolder()
        do {
            lock = try FileLock(location.attemptsLock, in: folder, patience: patience)
        } catch {
            switch error {
            case .busy: throw .busy
            case .system(let failure): throw .notCounted(failure)
            }
        }
        self.folder = folder
    }

    /// What is counted against the vault.
    func read(of vaultID: [UInt8]) throws(VaultError) -> Attempts {
        try Attempts.read(location, in: folder, of: vaultID)
    }

    /// Puts `attempts` on the disk; where nothing is counted, there is no file.
    ///
    /// - Throws: ``VaultError/notCounted(_:)``, ``VaultError/inTheWay(name:)``.
    func save(_ attempts: Attempts) throws(VaultError) {
        let file = FileReplacement(of: location.attempts, beginningWith: Attempts.magic)
        let text = try attempts.text()
        do {
            if attempts.isEmpty {
                try file.remove(in: folder)
            } else {
                try file.replace(with: text.span, in: folder, previous: .none)
            }
        } catch {
            switch error {
            case .inTheWay(let name): throw .inTheWay(name: name)
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

    /// Wipes these records because of failures.
    func wipe(_ ids: Set<RecordID>, at reading: ClockReading) throws(VaultError) {
        let time = Int64(min(reading.wall, VaultLimits.number))
        try VaultWriter(location).wipe(ids, leaving: Tombstone(time: time, reason: .failures))
    }

    /// Whether nobody is being asked for their presence; nobody begins to be while this counter lives.
    func isNobodyAsked() throws(VaultError) -> Bool {
        do throws(FileLockError) {
            guard try isEverAsked() else { return true }
            _ = try FileLock(location.presenceLock, in: folder, patience: 0)
            return true
        } catch {
            switch error {
            case .busy: return false
            case .system(let failure): throw .notCounted(failure)
            }
        }
    }

    private func isEverAsked() throws(FileLockError) -> Bool {
        do { return try folder.holds(location.presenceLock) } catch { throw .system(error) }
    }
}

/// Somebody is being asked for their presence, with a try that is counted and not decided; the kernel
/// forgets it when the process dies, so that who comes next knows that it is decided.
struct AskedPresence: ~Copyable {
    private let lock: FileLock

    /// - Throws: ``VaultError/busy``, ``VaultError/notCounted(_:)``.
    init(_ location: VaultLocation) throws(VaultError) {
        let folder = try location.openFolder()
        do {
            lock = try FileLock(
                location.presenceLock, in: folder, sharing: true, patience: VaultWriter.patience)
        } catch {
            switch error {
            case .busy: throw .busy
            case .system(let failure): throw .notCounted(failure)
            }
        }
    }
}

extension Attempts {
    /// Reads what is counted against the vault.
    ///
    /// A file that is damaged or another vault's counts nothing: who could spoil it could take it away.
    ///
    /// - Throws: ``VaultError/inTheWay(name:)``, ``VaultError/newerAttempts(_:)``,
    ///   ``VaultError/notCounted(_:)``.
    static func read(
        _ location: VaultLocation, in folder: borrowing Folder, of vaultID: [UInt8]
    ) throws(VaultError) -> Attempts {
        let none = Attempts(of: vaultID)
        let bytes: [UInt8]
        do {
            bytes = try folder.readPrivateFile(location.attempts, limit: Attempts.sizeLimit)
        } catch {
            switch error {
            case .missing: return none
            case .system(let failure): throw .notCounted(failure)
            default: throw .inTheWay(name: location.attempts)
            }
        }
        do {
            let read = try Attempts(reading: bytes)
            return read.vaultID == vaultID ? read : none
        } catch {
            if case .newerVersion(let version) = error { throw .newerAttempts(version) }
            return none
        }
    }
}
