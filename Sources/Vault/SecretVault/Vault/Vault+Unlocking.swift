internal import WatchwordCryptography
internal import WatchwordSystem

extension Vault {
    /// Opens the vault at `path`.
    ///
    /// An attempt with a passphrase is recorded before it is made, and its outcome before it is
    /// reported. Interrupting signals are deferred in between. An attempt without an outcome costs
    /// a wait, but never a record; so does one that a slot refused while another slot was not
    /// tried. After five failed attempts in a row the vault is locked out. Records that have
    /// reached their limit of refused attempts are wiped before anything is tried, and again before
    /// the outcome is reported. A recovery key or a device's secret cannot be guessed, so it is not
    /// counted, opens the vault during a wait, and clears the count.
    ///
    /// Slots are tried up to a total cost of `ceiling`, the cheapest first.
    ///
    /// If entries were wiped without the vault key, the vault is saved, so that the manifest
    /// records this and no older file can restore their secrets.
    ///
    /// - Parameters:
    ///   - ceiling: the base-2 logarithm of the maximum sum of scrypt's N over all slots that are
    ///     tried; 20 corresponds to a gigabyte of memory.
    ///   - savesWipes: whether to save the vault if entries were wiped without the vault key.
    ///   - readOnly: whether to open a vault that cannot be written (a read-only file system, no
    ///     permission), without counting and only for reading.
    /// - Throws: ``VaultError/wrongPassphrase``; ``VaultError/lockedOut(seconds:)``;
    ///   ``VaultError/notCounted(_:)`` and ``VaultError/inTheWay(name:)`` if the attempt could not
    ///   be counted, and was not made; ``VaultError/writable`` if it could be counted despite
    ///   `readOnly`; the errors of wiping.
    public static func unlock(
        at path: String, with opener: VaultOpener, ceiling: Int = defaultCeiling,
        readOnly: Bool = false, savesWipes: Bool = true,
        reading: @escaping @autoclosure () -> ClockReading = .now()
    ) throws(VaultError) -> UnlockedVault {
        var opening = try VaultOpening(path, at: reading)
        let key: (VaultKey, slot: Int, VaultState)
        switch opener {
        case _ where readOnly: key = try opening.uncountedKey(with: opener, ceiling: ceiling)
        case .passphrase(let passphrase):
            key = try opening.key(passphrase: passphrase, ceiling: ceiling)
        case .recoveryKey, .device:
            key = try opening.key(uncounted: opener, ceiling: ceiling)
        }
        let vault = try opening.unlocked(with: key, ceiling: ceiling, readOnly: readOnly)
        if savesWipes { vault.listTombstones() }
        return vault
    }

    /// The default maximum cost of unlocking: scrypt with N = 2^20, which takes a gigabyte of
    /// memory and a few seconds.
    public static var defaultCeiling: Int { 20 }

    /// The highest cost of unlocking that a caller can allow.
    public static var maximumCeiling: Int { VaultLimits.unlockCeiling }

    /// How many of its last saves a vault records.
    package static var recordedSaveCount: Int { VaultHistory.limit }

    /// The failures and the wait of the vault at `path`.
    ///
    /// Call this before prompting for a passphrase.
    ///
    /// First completes any wipe that was interrupted, because no attempt that could do so starts
    /// during a wait.
    public static func lockOut(at path: String, reading: ClockReading = .now())
        throws(VaultError) -> LockOut
    {
        var opening = try VaultOpening(path) { reading }
        try opening.completeInterruptedWipe()
        return LockOut(try opening.attempts().vault, at: reading)
    }
}
