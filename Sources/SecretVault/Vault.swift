public import Cryptography
internal import POSIX

/// What opens a vault.
public enum VaultOpener: Sendable {
    /// The passphrase, byte for byte as it was set.
    case passphrase(SecretBytes)
    /// The recovery key.
    case recoveryKey(RecoveryKey)
}

/// The vault's file, before it is open.
public enum Vault {
    /// What a vault's file begins with, whatever its version.
    public static let fileStart = VaultEnvelope.magic

    /// Makes a vault at `path`, and its folder (mode 0700) when there is none.
    ///
    /// - Parameters:
    ///   - recoveryKey: a new key that opens it, too; its owner should have it in hand already.
    ///   - now: Unix seconds, kept as the time when the slots were made.
    /// - Returns: what the owner should be told.
    /// - Throws: ``VaultError/alreadyExists`` when there is anything at the path;
    ///   ``VaultError/reservedPlace``; ``VaultError/inTheWay(name:)``.
    @discardableResult public static func create(
        at path: String, passphrase: SecretBytes, cost: ScryptCost, recoveryKey: RecoveryKey?,
        now: Int64
    ) throws(VaultError) -> [VaultReport] {
        // Asked first without the lock, so that no lock is left beside a stranger's file.
        try expectFree(path)
        let location = try VaultLocation(path)
        try location.makeFolder()
        let writer = try VaultWriter(location)
        guard try !writer.isTaken() else { throw .alreadyExists }
        let exposure = try location.exposure(of: location.openFolder())
        let key = try VaultKey.make()
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
        var reports = [exposure].compactMap { $0 }
        try AttemptCounter.prepare(location, of: key.vaultID)
        do {
            try writer.make(bytes, of: key.vaultID)
        } catch .notConfirmed(let failure) {
            // The vault is there all the same.
            reports.append(.notConfirmed(failure))
        }
        if let report = writer.writeMark(of: document) { reports.append(report) }
        return reports
    }

    /// Refuses a place where no vault can be made: something is there, or the program keeps its own files
    /// there.
    ///
    /// - Throws: ``VaultError/alreadyExists``, ``VaultError/reservedPlace``.
    public static func expectFree(_ path: String) throws(VaultError) {
        guard try !isTaken(path) else { throw .alreadyExists }
        try VaultLocation(path).expectFree()
    }

    /// Whether the program keeps its own files at `path`, such as the previous generation of a vault and its
    /// counted failures; nothing else may be written there.
    public static func isReservedPlace(_ path: String) -> Bool {
        do throws(VaultError) {
            try VaultLocation(path).expectFree()
            return false
        } catch {
            return error == .reservedPlace
        }
    }

    /// Tells whether there is anything at `path`, whatever it is.
    public static func isTaken(_ path: String) throws(VaultError) -> Bool {
        let location = try VaultLocation(path)
        do {
            return try location.holdsFile(in: location.openFolder())
        } catch .notFound {
            return false
        }
    }
}
