public import WatchwordCryptography
internal import WatchwordSystem

/// The means of opening a vault.
public enum VaultOpener: Sendable {
    /// The passphrase, with exactly the bytes that were set.
    case passphrase(SecretBytes)
    /// The recovery key, which is never counted as a guess.
    case recoveryKey(RecoveryKey)
    /// The secret that the device of this slot has returned.
    case device(SecretBytes, of: SlotSummary)

    /// Whether a person had to be present: a TPM may return its secret without a PIN.
    package var provesPresence: Bool {
        if case .device(_, let slot) = self { slot.provesPresence } else { true }
    }
}

/// Whether unlocking counts attempts, and whether it may save the vault.
public enum UnlockMode: Hashable, Sendable {
    /// Attempts are counted. If entries were wiped without the vault key, the vault is saved.
    case listingWipes
    /// Attempts are counted, but the vault is not saved.
    case leavingWipes
    /// The vault cannot be written (a read-only file system, no permission): it is opened without
    /// counting attempts, and only for reading.
    case readOnly
}

/// Operations on vault files that are not open.
public enum Vault {
    /// The beginning of a vault file of any version.
    public static let fileStart = VaultEnvelope.magic

    /// Creates a vault at `path`, and its folder (mode 0700) if there is none.
    ///
    /// - Parameters:
    ///   - recoveryKey: a new key that also opens the vault. Show it to the owner first.
    ///   - now: Unix seconds, stored as the creation time of the slots.
    /// - Returns: the warnings to show to the owner.
    /// - Throws: ``VaultError/alreadyExists`` if there is anything at the path;
    ///   ``VaultError/previousLeft``; ``VaultError/reservedPath``; ``VaultError/inTheWay(name:)``.
    @discardableResult public static func create(
        at path: String, passphrase: SecretBytes, cost: ScryptCost, recoveryKey: RecoveryKey?,
        now: Int64
    ) throws(VaultError) -> [VaultReport] {
        // First check without the lock, so that no lock file is left beside an unrelated file.
        try requireUnusedPath(path)
        let location = try VaultLocation(path)
        try location.makeFolder()
        var writer = try VaultWriter(location)
        guard try !writer.isTaken() else { throw .alreadyExists }
        let exposure = try location.exposure(of: location.openFolder())
        let key = VaultKey.make()
        var slots = [
            try TrustedSlot.sealing(
                key, under: .passphrase(passphrase, cost), number: 1, created: now)
        ]
        if let recoveryKey {
            slots.append(
                try TrustedSlot.sealing(
                    key, under: .recoveryKey(recoveryKey), number: 2, created: now))
        }
        let (document, state) = try VaultState(new: key.vaultID, slots: slots)
            .verifiedFile(with: key)
        let record = try GenerationRecord(of: document, saving: state, with: key, after: nil)
        var reports = [exposure].compactMap { $0 }
        try AttemptCounter.prepare(location, of: key.vaultID)
        do {
            try writer.make(document.bytes, of: key.vaultID)
        } catch .notConfirmed(let failure) {
            // The vault was created even though the system did not confirm it.
            reports.append(.notConfirmed(failure))
        }
        if let report = writer.write(record, isNew: true) { reports.append(report) }
        return reports
    }

    /// Verifies that a vault can be created at `path`: no file exists there, the place is not
    /// reserved for the program's own files, and no previous generation of a removed vault is left.
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
        ifPossible(try VaultLocation(path).holdsPrevious()) ?? false
    }

    /// Whether `path` is reserved for the program's own files, such as a vault's previous
    /// generation and counted failures.
    ///
    /// Nothing else may be written there.
    public static func isReservedPath(_ path: String) -> Bool {
        ifPossible(try VaultLocation(path))?.isReserved ?? false
    }

    /// The slots of the vault at `path`, as listed in the file.
    ///
    /// Before the vault is open, the slots are not authenticated: an attacker who can write the
    /// file can change them.
    public static func slots(at path: String) throws(VaultError) -> [SlotSummary] {
        try VaultDocument(parsing: VaultLocation(path).read()).slots.map(SlotSummary.init)
    }

    /// Whether a file of any type exists at `path`.
    public static func isTaken(_ path: String) throws(VaultError) -> Bool {
        let location = try VaultLocation(path)
        guard let folder = try VaultError.ifFound(location.openFolder()) else { return false }
        return try location.containsFile(in: folder)
    }
}

extension Vault {
    /// Opens the vault at `path`.
    ///
    /// An attempt with a passphrase is recorded before it is made, and its outcome before it is
    /// reported. Interrupting signals are deferred in between. An attempt without an outcome costs
    /// a wait, but never wipes a record. The same holds for an attempt that one slot refused while
    /// another slot was not tried. Several failed attempts in a row (``LockOutPolicy``) lock the
    /// vault out. Records that have reached their limit of refused attempts are wiped before
    /// anything is tried, and again before the outcome is reported. A recovery key or a device's
    /// secret cannot be guessed, so attempts with it are not counted; it opens the vault even
    /// during a wait, and clears the count.
    ///
    /// Slots are tried up to a total cost of `ceiling`, the cheapest first.
    ///
    /// If entries were wiped without the vault key, the vault is normally saved, so that the
    /// manifest records this and no older file can restore their secrets.
    ///
    /// - Parameters:
    ///   - ceiling: the base-2 logarithm of the maximum sum of scrypt's N over all slots that are
    ///     tried; 20 corresponds to a gigabyte of memory.
    ///   - mode: whether the vault may be saved.
    /// - Throws: ``VaultError/wrongPassphrase``; ``VaultError/lockedOut(seconds:)``;
    ///   ``VaultError/notCounted(_:)`` and ``VaultError/inTheWay(name:)`` if the attempt could not
    ///   be counted, and was not made; ``VaultError/writable`` if it could be counted despite
    ///   ``UnlockMode/readOnly``; the errors of wiping.
    public static func unlock(
        at path: String, with opener: VaultOpener, ceiling: Int = defaultCeiling,
        mode: UnlockMode = .listingWipes,
        reading: @escaping @autoclosure () -> ClockReading = .now()
    ) throws(VaultError) -> UnlockedVault {
        var opening = try VaultOpening(path, at: reading)
        let slot: OpenedSlot
        switch opener {
        case _ where mode == .readOnly:
            slot = try opening.slotWithoutCounting(with: opener, ceiling: ceiling)
        case .passphrase(let passphrase):
            slot = try opening.slot(passphrase: passphrase, ceiling: ceiling)
        case .recoveryKey, .device:
            slot = try opening.slot(uncounted: opener, ceiling: ceiling)
        }
        let vault = try opening.unlocked(
            by: slot, ceiling: ceiling, isReadOnly: mode == .readOnly)
        if mode == .listingWipes { vault.listTombstones() }
        return vault
    }

    /// The default maximum cost of unlocking: scrypt with N = 2^20, which takes a gigabyte of
    /// memory and a few seconds.
    public static var defaultCeiling: Int { 20 }

    /// The highest cost of unlocking that a caller can allow.
    public static var maximumCeiling: Int { VaultLimits.unlockCeiling }

    /// The number of its last saves that a vault records.
    package static var recordedSaveCount: Int { VaultHistory.limit }

    /// The failures that are counted against the vault at `path`, and the remaining wait.
    ///
    /// Call this before prompting for a passphrase.
    ///
    /// Also completes an interrupted wipe: during a wait, no attempt starts that could complete it.
    public static func lockOut(at path: String, reading: ClockReading = .now())
        throws(VaultError) -> LockOut
    {
        var opening = try VaultOpening(path) { reading }
        try opening.completeInterruptedWipe()
        return LockOut(try opening.attempts().vault, at: reading)
    }
}

/// The consequences of past and further failures for a vault; they can be read without a key.
public struct VaultStatus: Hashable, Sendable {
    /// The failures that are counted against the vault, and the remaining wait.
    public let lockOut: LockOut
    /// The number of records that were wiped because of failures since the given time.
    public let wiped: Int
    /// The number of further failures until the vault is locked out; 0 if it has been locked out
    /// before, so that every further failure locks it out again.
    public let failuresUntilLockOut: Int
    /// The number of further failures until a record is wiped; `nil` if no record is set to be
    /// wiped.
    public let failuresUntilWipe: Int?
    /// Whether the file has different slots than when it was last opened or saved here.
    ///
    /// If so, a different passphrase may open it, and failures wipe nothing.
    public var hasOtherSlots = false
}

extension Vault {
    /// The consequences of failures since `began` (Unix seconds), to report after a failed attempt.
    public static func status(at path: String, since began: Int64, reading: ClockReading = .now())
        throws(VaultError) -> VaultStatus
    {
        let location = try VaultLocation(path)
        let document = try VaultDocument(parsing: location.read())
        let attempts = try Attempts.read(location, of: document.vaultID)
        let known = SlotsRecord.read(of: location, vaultID: document.vaultID)
        let hasOtherSlots = known ?? document.slotsDigest != document.slotsDigest
        var wiped = 0
        var failuresUntilWipe: Int?
        for (line, body) in zip(document.records, document.bodies) {
            switch body {
            case .tombstone(let tombstone):
                // Records that allow fewer failures may have been wiped by an earlier attempt in
                // the same second. Records that allow more were not wiped by failures here: anyone
                // who can write the file can write a tombstone.
                guard case .wipe(let limit) = line.accessControl.onFailure,
                    tombstone.reason == .failures, tombstone.time >= began,
                    UInt64(limit.value) >= attempts.refusals[document.slotsDigest] ?? 0,
                    attempts.isDue(line, by: document.slotsDigest)
                else { continue }
                wiped += 1
            case .sealed:
                guard !hasOtherSlots,
                    let left = attempts.failuresUntilWipe(line, by: document.slotsDigest)
                else { continue }
                failuresUntilWipe = min(failuresUntilWipe ?? left, left)
            }
        }
        let lockOut = LockOut(attempts.vault, at: reading)
        return VaultStatus(
            lockOut: lockOut, wiped: wiped,
            failuresUntilLockOut: max(
                Int(LockOutPolicy.firstFailureWithWait) - Int(clamping: lockOut.failures), 0),
            failuresUntilWipe: failuresUntilWipe, hasOtherSlots: hasOtherSlots)
    }
}

extension Attempts {
    /// The number of further failures until this record is wiped; `nil` if it is not set to be
    /// wiped.
    fileprivate func failuresUntilWipe(_ line: RecordLine, by slots: SlotsDigest) -> Int? {
        guard case .wipe(let limit) = line.accessControl.onFailure else { return nil }
        return max(limit.value - Int(clamping: refusals(of: line, by: slots)), 1)
    }
}
