public import WatchwordCryptography
internal import WatchwordSystem

extension Vault {
    /// The path of a vault in use that a passphrase of `file` also opens, because `file` is a copy
    /// or an earlier or later state of that vault; `nil` if there is no such vault.
    ///
    /// Trying a passphrase on such a file is a guess at that vault's passphrase, so the passphrase
    /// must first be tried on the vault, where the attempt is counted: see ``confirm(_:at:)``. Two
    /// files share a passphrase only if they have a slot with the same salt and the same sealed
    /// secret. A file that merely has the vault's ID cannot lock the owner out.
    ///
    /// - Parameters:
    ///   - path: the path of the file; `nil` if unknown. A vault in its folder is in use if the
    ///     program keeps files about the vault.
    ///   - vaults: the paths of other vaults that are in use; a path without a file is allowed.
    public static func path(
        sharingPassphraseWith file: [UInt8], at path: String?, among vaults: [String]
    ) throws(VaultError) -> String? {
        try self.path(
            sharingPassphraseWith: VaultDocument(parsing: file), at: path, among: vaults)
    }

    static func path(
        sharingPassphraseWith document: VaultDocument, at path: String?, among vaults: [String]
    ) throws(VaultError) -> String? {
        var candidates: [VaultLocation] = []
        for vault in vaults {
            let location = try VaultLocation(vault)
            candidates += [location] + (try location.vaultsInUse())
        }
        // The path may be a link to a vault.
        if let path { candidates += try VaultLocation(Folder.resolvedPath(path)).vaultsInUse() }
        for candidate in candidates where try candidate.isVault(document.vaultID) {
            let other = try VaultDocument(parsing: candidate.read())
            if other.sharesPassphrase(with: document) {
                return candidate.path(beside: candidate.name)
            }
        }
        return nil
    }

    /// Tries a passphrase on the vault at `path`; a failure counts like a failed attempt to unlock.
    public static func confirm(
        _ passphrase: SecretBytes, at path: String, ceiling: Int = defaultCeiling
    ) throws(VaultError) {
        _ = try unlock(
            at: path, with: .passphrase(passphrase), ceiling: ceiling, mode: .leavingWipes)
    }
}

extension VaultLocation {
    /// The vaults in this folder about which the program keeps files.
    fileprivate func vaultsInUse() throws(VaultError) -> [VaultLocation] {
        let names: [String]
        do {
            names = try Folder.names(at: base + "/\(VaultLocation.stateFolderName)/by-name")
        } catch {
            guard error.isMissing else { throw .system(error) }
            return []
        }
        return try names.map { name throws(VaultError) in try VaultLocation(base + "/" + name) }
    }

    /// The slot sets of the files of this vault in the folder, and of their previous generations.
    ///
    /// The slots recorded for a file are included, because the file may have been replaced
    /// temporarily.
    func slotSets(of vaultID: [UInt8]) -> Set<SlotsDigest> {
        var sets: Set<SlotsDigest> = []
        for vault in ifPossible(try vaultsInUse()) ?? [] {
            if let slots = SlotsRecord.read(of: vault, vaultID: vaultID) { sets.insert(slots) }
        }
        let kept = "/\(VaultLocation.stateFolderName)/by-name/"
        for (folder, end) in [("/", ""), (kept, "/" + VaultLocation.previous)] {
            // A file that cannot be read cannot be attempted, either.
            for name in ifPossible(try Folder.names(at: base + folder)) ?? [] {
                guard let file = ifPossible(try VaultLocation(base + folder + name + end)),
                    ifPossible(try file.isVault(vaultID)) == true,
                    let document = ifPossible(try VaultDocument(parsing: file.read()))
                else { continue }
                sets.formUnion([document.slotsDigest, document.slotsDigest.elsewhere()])
            }
        }
        return sets
    }

    /// The records that these failures have wiped in other files of the vault in the folder, but
    /// that no save lists as wiped yet.
    ///
    /// This file may be the previous generation of one of those files.
    func wipesElsewhere(by attempts: Attempts) throws(VaultError) -> Set<RecordID> {
        var wiped: Set<RecordID> = []
        guard !attempts.isEmpty else { return wiped }
        for vault in try vaultsInUse() where isKept || !vault.name.utf8.elementsEqual(name.utf8) {
            // A file that cannot be read lists no wipe, either.
            wiped.formUnion(ifPossible(try vault.wipes(by: attempts)) ?? [])
        }
        return wiped
    }

    /// The records that these failures have wiped in this file, unless this file is older than one
    /// that was seen here.
    private func wipes(by attempts: Attempts) throws(VaultError) -> Set<RecordID> {
        guard try isVault(attempts.vaultID) else { return [] }
        let document = try VaultDocument(parsing: read())
        let isOlder = try GenerationRecord.read(of: self, vaultID: attempts.vaultID)?
            .isNewer(than: document.generation, of: document.vaultID)
        guard isOlder != true else { return [] }
        let due = attempts.due(in: document.countedLines, by: document.slotsDigest)
        return due.filter { !document.hasSecret(ofAny: [$0]) }
    }

    /// Whether the file here is a vault with this ID, whatever its permissions.
    fileprivate func isVault(_ vaultID: [UInt8]) throws(VaultError) -> Bool {
        guard let folder = try VaultError.ifFound(openFolder()) else { return false }
        return self.vaultID(in: folder) == vaultID
    }
}

extension VaultParcel {
    /// Whether a passphrase that opens the vault at `path` also opens this one.
    package func sharesPassphrase(withVaultAt path: String) throws(VaultError) -> Bool {
        try VaultDocument(parsing: VaultLocation(path).read()).sharesPassphrase(with: document)
    }
}

extension VaultDocument {
    /// Whether a passphrase that opens a slot of `other` also opens one here.
    fileprivate func sharesPassphrase(with other: VaultDocument) -> Bool {
        slots.contains { slot in
            guard case .passphrase = slot.method else { return false }
            return other.slots.contains {
                $0.head.text == slot.head.text && $0.secret == slot.secret
            }
        }
    }
}
