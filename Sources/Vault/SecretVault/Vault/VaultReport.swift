public import WatchwordSystem

/// A warning to the owner of a vault that still opens.
public enum VaultReport: Hashable, Sendable {
    /// The file is older than one seen here before: an old copy was restored, and later changes are
    /// missing. HOTP counters may repeat.
    case olderFile(generation: UInt64, newest: UInt64)
    /// The file differs from the file that was last saved here, or lacks that save, but is not
    /// older: a copy that was changed elsewhere has replaced the vault. HOTP counters may repeat.
    case otherFile(generation: UInt64)
    /// The file was not saved since the newest rekey that was seen here: a passphrase or key that
    /// opened the vault before the rekey opens everything saved in this file.
    case formerKey
    /// The file at this path, beside the vault, is a copy of it that another program kept because
    /// both were edited. If the name is not UTF-8, the path contains U+FFFD instead.
    case conflictingCopy(path: String)
    /// The file at this path is such a copy with a different key, which may be newer.
    case rekeyedCopy(path: String)
    /// This number of further copies exist beside the vault.
    case moreConflictingCopies(count: Int)
    /// The previous generation, at this path, has changes that the vault lacks, because an older or
    /// a diverged file has replaced the vault. No save replaces it until it is merged.
    case unmergedPrevious(path: String)
    /// The entry's secret was wiped.
    case wiped(RecordID, Tombstone)
    /// The entry's secret was wiped without the vault key, and not because of failures that were
    /// counted here: the file was changed, or another device wiped the entry.
    case vanished(RecordID)
    /// An older file of the vault should have been erased, but it has a second name (a hard link),
    /// under which its content stays. This is its inode number.
    case keptUnderSecondName(inode: UInt64)
    /// Older files of the vault were erased, but not the copy at this path, which another program
    /// put beside it.
    case copyNotErased(path: String)
    /// The entry is bound to this device, whose key cannot be used. Only a check of the whole vault
    /// reports this.
    case deviceKeyUnusable(RecordID, DeviceKeyProblem)
    /// The vault was saved, but not the `generation` file, which detects an older vault.
    case generationNotRecorded(VaultError)
    /// Entries were wiped without the vault key, and the manifest could not be updated for this
    /// reason: anyone who has an older file could restore their secrets.
    case wipesNotListed(VaultError)
    /// The vault is open, but the counted failures could not be cleared, for this reason.
    case failuresNotCleared(VaultError)
    /// The vault is open read-only; failed attempts are not counted.
    case failuresNotCounted
    /// The vault is saved, but the system did not confirm that it is on disk.
    case notConfirmed(SystemCallFailure)
    /// The vault's folder belongs to the user with this ID, who can replace the vault.
    case folderOwnedByOther(UInt32)
    /// Other users may write to the vault's folder, according to these permission bits, and so can
    /// restore an older vault.
    case folderOpenToOthers(mode: UInt32)

    /// Whether the vault was replaced, so that codes may repeat, or former passphrases may open it.
    package var isAlarm: Bool {
        switch self {
        case .olderFile, .otherFile, .formerKey: true
        default: false
        }
    }

    /// The entry that the report concerns; `nil` if it concerns no single entry.
    package var entry: RecordID? {
        switch self {
        case .wiped(let id, _), .vanished(let id), .deviceKeyUnusable(let id, _): id
        default: nil
        }
    }

    /// Whether the report names a copy that has been removed since the vault was opened.
    var namesMissingCopy: Bool {
        switch self {
        case .conflictingCopy(let path), .rekeyedCopy(let path):
            !path.unicodeScalars.contains("\u{FFFD}") && FileStamp(of: path) == nil
        default: false
        }
    }

    init(_ file: LinkedFile) { self = .keptUnderSecondName(inode: file.number) }

    init(_ exposure: FolderExposure) {
        self =
            switch exposure {
            case .otherOwner(let user): .folderOwnedByOther(user)
            case .openToOthers(let mode): .folderOpenToOthers(mode: mode)
            }
    }
}

/// The warnings found while opening a vault.
struct FoundReports {
    /// The warning that the file is not the newest one; `nil` if it is.
    let generation: VaultReport?
    let others: [VaultReport]
}

/// The result of checking the whole vault.
public struct VaultCheck: Hashable, Sendable {
    /// The number of records that opened.
    public let opened: Int
    /// The number of records that are bound to other devices, and were not opened.
    public let closed: Int
    /// The parts that did not open or are not valid.
    public let damages: [VaultPart]
    /// The warnings to show to the owner.
    public let reports: [VaultReport]
    /// Whether a recovery key opens the vault.
    public let hasRecoveryKey: Bool
    /// The state of the previous generation, and whether it opens with the same key.
    public let previous: PreviousGeneration
}

/// The state of the previous generation beside the vault.
public enum PreviousGeneration: Hashable, Sendable {
    /// There is no previous generation.
    case none
    /// A complete vault of this generation.
    case whole(generation: UInt64)
    /// A file that cannot be used, because of this error.
    case unusable(VaultError)
}
