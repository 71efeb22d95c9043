public import WatchwordCryptography
internal import WatchwordSystem

/// What a vault is opened with.
public enum VaultOpener: Sendable {
    /// The passphrase, byte for byte as it was set.
    case passphrase(SecretBytes)
    /// The recovery key.
    case recoveryKey(RecoveryKey)
    /// The secret that the device of this slot yielded.
    case device(SecretBytes, of: SlotSummary)

    /// Whether a person had to be present to get it: a TPM yields its secret without a PIN, too.
    package var provesPresence: Bool {
        if case .device(_, let slot) = self { slot.provesPresence } else { true }
    }
}

/// Operations on a vault that is not open.
public enum Vault {
    /// The beginning of a vault file of any version.
    public static let fileStart = VaultEnvelope.magic

    /// Creates a vault at `path`, and its folder (mode 0700) if there is none.
    ///
    /// - Parameters:
    ///   - recoveryKey: a new key that also opens it. Show it to the owner first.
    ///   - now: Unix seconds, stored as the creation time of the slots.
    /// - Returns: what to report to the owner.
    /// - Throws: ``VaultError/alreadyExists`` if there is anything at the path;
    ///   ``VaultError/previousLeft``; ``VaultError/reservedPath``; ``VaultError/inTheWay(name:)``.
    @discardableResult public static func create(
        at path: String, passphrase: SecretBytes, cost: ScryptCost, recoveryKey: RecoveryKey?,
        now: Int64
    ) throws(VaultError) -> [VaultReport] {
        // Check first without the lock, so that no lock file is left beside an unrelated file.
        try requireUnusedPath(path)
        let location = try VaultLocation(path)
        try location.makeFolder()
        var writer = try VaultWriter(location)
        guard try !writer.isTaken() else { throw .alreadyExists }
        let exposure = try location.exposure(of: location.openFolder())
        let key = VaultKey.make()
        var slots = [
            try TrustedSlot.sealing(key, under: passphrase, cost: cost, number: 1, created: now)
        ]
        if let recoveryKey {
            slots.append(try TrustedSlot.sealing(key, under: recoveryKey, number: 2, created: now))
        }
        let state = VaultState(new: key.vaultID, slots: slots)
        let bytes = try state.written(with: key)
        let document = try VaultDocument(parsing: bytes)
        _ = try VaultState(verifying: document, with: key)
        let record = try GenerationRecord(of: document, saving: state, with: key, after: nil)
        var reports = [exposure].compactMap { $0 }
        try AttemptCounter.prepare(location, of: key.vaultID)
        do {
            try writer.make(bytes, of: key.vaultID)
        } catch .notConfirmed(let failure) {
            // The vault was created anyway.
            reports.append(.notConfirmed(failure))
        }
        if let report = writer.write(record, isNew: true) { reports.append(report) }
        return reports
    }

    /// Verifies that a vault can be created at `path`: nothing is there, the place is not reserved
    /// for the program's own files, and no previous generation of a removed vault is left.
    ///
    /// - Throws: ``VaultError/alreadyExists``, ``VaultError/reservedPath``,
    ///   ``VaultError/previousLeft``.
    public static func requireUnusedPath(_ path: String) throws(VaultError) {
        try requireAlgorithms()
        guard try !isTaken(path) else { throw .alreadyExists }
        let location = try VaultLocation(path)
        try location.requireUnreservedPath()
        guard try !location.holdsPrevious() else { throw .previousLeft }
    }

    /// Whether the program keeps a previous generation of the vault at `path`.
    package static func holdsPrevious(at path: String) -> Bool {
        do { return try VaultLocation(path).holdsPrevious() } catch { return false }
    }

    /// Whether `path` is reserved for the program's own files, such as a vault's previous
    /// generation and counted failures.
    ///
    /// Nothing else may be written there.
    public static func isReservedPath(_ path: String) -> Bool {
        do throws(VaultError) {
            try VaultLocation(path).requireUnreservedPath()
            return false
        } catch {
            return error == .reservedPath
        }
    }

    /// The ways to open the vault at `path`, as the file lists them.
    ///
    /// Nothing authenticates them before the vault is open: an attacker who can write the file can
    /// change them.
    public static func slots(at path: String) throws(VaultError) -> [SlotSummary] {
        try VaultDocument(parsing: VaultLocation(path).read()).slots.map(SlotSummary.init)
    }

    /// Whether there is a file of any type at `path`.
    public static func isTaken(_ path: String) throws(VaultError) -> Bool {
        let location = try VaultLocation(path)
        do {
            return try location.containsFile(in: location.openFolder())
        } catch .notFound {
            return false
        }
    }
}
