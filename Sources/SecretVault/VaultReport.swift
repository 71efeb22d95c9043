public import POSIX

/// Something that the owner of a vault should be told, and that does not keep the vault closed.
public enum VaultReport: Hashable, Sendable {
    /// The file is older than one that was here: an old copy was put back, and what was changed since
    /// is missing. Counters of one-time passwords may repeat.
    case olderFile(generation: UInt64, newest: UInt64)
    /// The file is not the one that was saved here last, and not older either: a copy that was changed
    /// elsewhere, or by somebody, took its place.
    case otherFile(generation: UInt64)
    /// The entry's secret was wiped.
    case wiped(RecordID, Tombstone)
    /// The vault was saved, but the file beside it, by which an older one is noticed, was not.
    case generationNotMarked(VaultError)
    /// Entries were wiped without the vault key, and for this reason the list of the entries could not be
    /// told: whoever has an older file could put their secrets back.
    case wipesNotListed(VaultError)
    /// The vault is open, but the failures that were counted could not be taken off, for this reason.
    case failuresNotCleared(VaultError)
    /// The vault is open to be read only, and failures are not counted.
    case failuresNotCounted
    /// The vault is saved, but the system did not say that it is on the disk for good.
    case notConfirmed(SystemCallFailure)
    /// The vault's folder belongs to the user with this number, who may put another file in its place.
    case folderOfOther(UInt32)
    /// Others may write to the vault's folder, and so put an older vault back; these are its permission
    /// bits.
    case folderOpenToOthers(mode: UInt32)

    init(_ exposure: FolderExposure) {
        self =
            switch exposure {
            case .otherOwner(let user): .folderOfOther(user)
            case .openToOthers(let mode): .folderOpenToOthers(mode: mode)
            }
    }
}

/// What a check of the whole vault found.
public struct VaultCheck: Sendable {
    /// How many records opened.
    public let opened: Int
    /// What did not open, or is no entry.
    public let damages: [VaultPart]
    /// What its owner should be told.
    public let reports: [VaultReport]
    /// Whether there is a recovery key.
    public let hasRecoveryKey: Bool
    /// Whether the previous generation beside the file opens with the same key.
    public let previous: PreviousGeneration
}

/// What stands beside the vault as its previous generation.
public enum PreviousGeneration: Hashable, Sendable {
    /// Nothing.
    case none
    /// A whole vault of this generation.
    case whole(generation: UInt64)
    /// Something that can't be used.
    case unusable(VaultError)
}
