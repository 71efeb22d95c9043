public import Cryptography
internal import POSIX

/// What opens a vault.
public enum VaultOpener: Sendable {
    /// The passphrase, byte for byte as it was set.
    case passphrase(SecretBytes)
    /// The recovery key.
    case recoveryKey(RecoveryKey)
}

/// A vault that was just made.
public struct NewVault: Sendable {
    /// The recovery key, when one was asked for; it is never to be had again.
    public let recoveryKey: RecoveryKey?
    /// What the owner should be told.
    public let reports: [VaultReport]
}

/// The vault's file, before it is open.
public enum Vault {
    /// Makes a vault at `path`, and its folder (mode 0700) when there is none.
    ///
    /// - Parameter now: Unix seconds, kept as the time when the slots were made.
    /// - Throws: ``VaultError/alreadyExists`` when there is anything at the path;
    ///   ``VaultError/inTheWay(name:)``.
    @discardableResult public static func create(
        at path: String, passphrase: SecretBytes, cost: ScryptCost, recoveryKey: Bool, now: Int64
    ) throws(VaultError) -> NewVault {
        // Asked first without the lock, so that no lock is left beside a stranger's file.
        guard try !isTaken(path) else { throw .alreadyExists }
        let location = try VaultLocation(path)
        try location.makeFolder()
        let writer = try VaultWriter(location)
        guard try !writer.isTaken() else { throw .alreadyExists }
        let exposure = try location.exposure(of: location.openFolder())
        let key = try VaultKey.make()
        var slots = [
            try TrustedSlot.sealing(key, under: passphrase, cost: cost, number: 1, created: now)
        ]
        var recovery: RecoveryKey?
        if recoveryKey {
            let made = try RecoveryKey.make()
            slots.append(try TrustedSlot.sealing(key, under: made, number: 2, created: now))
            recovery = made
        }
        let state = VaultState(new: key.vaultID, slots: slots)
        let bytes = try state.written(with: key)
        let document = try VaultDocument(parsing: bytes)
        _ = try VaultState(verifying: document, with: key)
        var reports = [exposure].compactMap { $0 }
        do {
            try writer.save(bytes, erasingOlder: false)
        } catch .notConfirmed(let failure) {
            // The vault is there, and its recovery key must be shown.
            reports.append(.notConfirmed(failure))
        }
        if let report = writer.writeMark(of: document) { reports.append(report) }
        return NewVault(recoveryKey: recovery, reports: reports)
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
