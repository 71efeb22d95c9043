public import WatchwordCryptography

/// A backup: a vault file in memory that contains copies of entries.
///
/// The file is a complete vault with its own ID and one passphrase, so it can also be used as a
/// vault. Presence was checked when the entries were opened for the backup; anyone who knows the
/// passphrase can open all of them.
public struct VaultBackup: Sendable {
    /// An entry with its secret and all its properties.
    public struct Entry: Sendable {
        /// The name, the secret and the parameters of its codes.
        public let content: EntryContent
        /// The entry's tags, note, icon name and favourite mark.
        public let details: EntryDetails
        /// The presence check that the entry requires, and the consequence of failed checks.
        public let accessControl: AccessControl
        /// When the entry was added to its original vault, in Unix seconds.
        public let created: Int64

        /// The parts are validated when the backup is made.
        public init(
            content: EntryContent, details: EntryDetails, accessControl: AccessControl,
            created: Int64
        ) {
            self.content = content
            self.details = details
            self.accessControl = accessControl
            self.created = created
        }
    }

    /// The entries, in the order of the new vault's list.
    public let entries: [Entry]
    /// The entries that are not copied: wiped entries have no secret, a server treats a second copy
    /// of an enrolled secret as theft, and bound entries open only on their devices.
    public let leftOut: [EntrySummary]

    /// The values are validated when the file is made.
    public init(_ entries: [Entry]) {
        self.entries = entries
        leftOut = []
    }

    /// The bytes of a new vault file with these entries.
    ///
    /// - Parameter now: Unix seconds, stored as the creation time of the passphrase's slot.
    /// - Throws: ``VaultError/otherKind`` for an enrolled secret.
    public func sealed(
        passphrase: SecretBytes, cost: ScryptCost, now: Int64
    ) throws(VaultError) -> [UInt8] {
        let key = VaultKey.make()
        let slot = try TrustedSlot.sealing(
            key, under: .passphrase(passphrase, cost), number: 1, created: now)
        var changes = try VaultChanges(
            VaultState(new: key.vaultID, slots: [slot]), key: key, after: nil)
        for entry in entries {
            if case .enrolledSecret = entry.content { throw .otherKind }
            try changes.add(
                entry.content, details: entry.details, accessControl: entry.accessControl,
                now: entry.created)
        }
        return try changes.state.verifiedFile(with: key).document.bytes
    }

    /// Opens a vault file in memory, such as a backup, with its passphrase.
    ///
    /// Failures are not counted, because the bytes can be copied. If the passphrase may be that of
    /// a vault in use, try it on that vault first: see
    /// ``Vault/path(sharingPassphraseWith:at:among:)``.
    ///
    /// - Parameter ceiling: The maximum cost, as for
    ///   ``Vault/unlock(at:with:ceiling:mode:reading:)``.
    /// - Throws: ``VaultError/wrongPassphrase``; the errors for a file that is not a vault.
    public init(
        opening bytes: [UInt8], passphrase: SecretBytes, ceiling: Int = Vault.defaultCeiling
    ) throws(VaultError) {
        guard bytes.count <= VaultLimits.fileSize else { throw .tooLarge }
        let document = try VaultDocument(parsing: bytes)
        let slot = try document.opened(with: .passphrase(passphrase), ceiling: ceiling)
        var entries: [Entry] = []
        var leftOut: [EntrySummary] = []
        for record in slot.state.records {
            let summary = record.summary
            guard summary.tombstone == nil, summary.kind != .enrolled, summary.binding == nil
            else {
                leftOut.append(summary)
                continue
            }
            entries.append(
                Entry(
                    content: try record.content(with: slot.key), details: summary.details,
                    accessControl: summary.accessControl, created: summary.created))
        }
        self.entries = entries
        self.leftOut = leftOut
    }
}

extension Vault {
    /// Whether `file` begins like a vault file of any version.
    public static func isVault(_ file: Span<UInt8>) -> Bool {
        file.count >= fileStart.count
            && fileStart.indices.allSatisfy { file[$0] == fileStart[$0] }
    }
}

extension Vault {
    /// The bytes of the vault file at `path`.
    ///
    /// - Throws: the errors for a file that is not a complete vault.
    package static func file(at path: String) throws(VaultError) -> [UInt8] {
        try VaultDocument(parsing: VaultLocation(path).read()).bytes
    }

    /// Whether `file` is a copy or another generation of the vault at `path`.
    ///
    /// - Throws: the errors for files that are not complete vaults.
    public static func isSame(_ file: [UInt8], at path: String) throws(VaultError) -> Bool {
        let document = try VaultDocument(parsing: VaultLocation(path).read())
        return try VaultDocument(parsing: file).vaultID == document.vaultID
    }
}

extension UnlockedVault {
    /// Whether `file` is a copy or another generation of this vault.
    ///
    /// - Throws: the errors for a file that is not a complete vault. No passphrase is needed.
    public func isSameVault(_ file: [UInt8]) throws(VaultError) -> Bool {
        try VaultDocument(parsing: file).vaultID == state.vaultID
    }
}
