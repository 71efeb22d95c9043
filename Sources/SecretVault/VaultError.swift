public import Cryptography
public import POSIX
public import Presence

/// Why the vault did not do what it was asked; none of the cases carries anything it holds.
public enum VaultError: Error, Hashable, Sendable {
    // What stands at the path.
    /// There is no vault at this path.
    case notFound
    /// There is a file at this path already.
    case alreadyExists
    /// No vault can be made here: the place is one where the program keeps its own files.
    case reservedPlace
    /// This is a generation that the program keeps; it can only be read.
    case keptGeneration
    /// The path is a folder's.
    case folder
    /// The path is a symbolic link's; links are not followed.
    case symbolicLink
    /// The path is a device's, a pipe's or a socket's.
    case notAFile
    /// The file belongs to the user with this number.
    case otherOwner(UInt32)
    /// Others than its owner may read or write the file; these are its permission bits.
    case openToOthers(mode: UInt32)
    /// The file or a thing in it is over a limit.
    case overLimit(VaultLimit)

    // What the file is.
    /// The file is something else.
    case notAVault
    /// A newer Watchword made the file; it uses this version of the format.
    case newerVersion(Int)
    /// A newer Watchword counts the failures; its file of attempts uses this version of the format.
    case newerAttempts(Int)
    /// The end of the file is missing.
    case truncated
    /// The file is not as it was written.
    case damaged(VaultPart)
    /// Trying a passphrase on every slot would cost too much, and those that were tried did not open: the
    /// base-two logarithms of all their scrypt Ns together, and of the most that was allowed.
    case costOverCeiling(logN: Int, ceiling: Int)
    /// Deriving a key as the file asks needs more bytes of memory than the process may have.
    case notEnoughMemory(needed: Int, limit: Int)

    // Who may.
    /// No slot opens with this passphrase.
    case wrongPassphrase
    /// No slot opens with this recovery key.
    case wrongRecoveryKey
    /// Too many failures; the next try is possible after so many seconds. A recovery key opens the vault
    /// all the same.
    case lockedOut(seconds: Int64)
    /// The attempt could not be counted on the disk, so it was not made, or its outcome is not told. A
    /// recovery key opens the vault without counting.
    case notCounted(SystemCallFailure)
    /// Attempts can be counted here, so the vault is not opened without counting them.
    case writable
    /// Refused attempts are to wipe an entry, and nothing can be written here.
    case wipingDue
    /// The vault is open to be read only.
    case openedReadOnly
    /// The proof of presence is worth nothing here.
    case proofRefused(PresenceProofError)
    /// This entry asks for presence at each use, and that of the unlocking is spent.
    case presenceNeeded
    /// This entry demands another check than the one that was asked.
    case otherCheckDemanded
    /// Another writer holds the vault.
    case busy
    /// While this vault was open, another one was put in its place.
    case replaced
    /// While the vault was being saved, another program put another file in its place, such as one that
    /// synchronizes folders. That file was kept, and nothing was saved.
    case changedMeanwhile
    /// While this vault was open, somebody else who had it open gave it another key.
    case rekeyed

    // What was asked for.
    /// There is no such entry.
    case noSuchEntry
    /// The entry was wiped; only its name is left.
    case wiped
    /// A name begins or ends with a space of any kind.
    case spaceAroundName
    /// The entry is of another kind than was asked for.
    case otherKind
    /// The counter has reached its end; the service must hand out a new key.
    case counterExhausted
    /// There is no such slot.
    case noSuchSlot
    /// The slot is the last one that opens the vault on any device.
    case lastSlot

    // What stands beside the vault.
    /// Something that is not the vault's has this name, which is needed; it was left as it is. The name
    /// starts in the vault's folder.
    case inTheWay(name: String)
    /// The change is saved, but the previous generation, which was to go, is still beside the vault.
    case previousNotErased(SystemCallFailure)
    /// The change is saved, but the system did not say that it is on the disk for good; what was to be
    /// purged is still there.
    case notConfirmed(SystemCallFailure)

    // What failed underneath.
    /// The system refused.
    case system(SystemCallFailure)
    /// OpenSSL could not do its work, for example for lack of memory.
    case cryptography(CryptographyFailure)

    /// Whether what was to be saved is saved in spite of this.
    public var isSaved: Bool {
        switch self {
        case .previousNotErased, .notConfirmed: true
        default: false
        }
    }

    init(_ error: FileReplacementError, path: (String) -> String) {
        self =
            switch error {
            case .inTheWay(let name): .inTheWay(name: path(name))
            case .system(let failure): .system(failure)
            case .changed: .changedMeanwhile
            case .notConfirmed(let failure): .notConfirmed(failure)
            }
    }

    /// - Parameter path: where the lock's file is; the path starts in the vault's folder.
    init(_ error: FileLockError, path: String) {
        self =
            switch error {
            case .busy: .busy
            case .system(let failure) where failure.meansNotAFile: .inTheWay(name: path)
            case .system(let failure): .system(failure)
            }
    }

    init(_ error: PrivateFileError) {
        self =
            switch error {
            case .missing: .notFound
            case .folder: .folder
            case .symbolicLink: .symbolicLink
            case .notAFile: .notAFile
            case .otherOwner(let user): .otherOwner(user)
            case .openToOthers(let mode): .openToOthers(mode: mode)
            case .tooLarge: .overLimit(.fileSize)
            case .system(let failure): .system(failure)
            }
    }
}

/// Which part of a vault's file is not as it was written.
public enum VaultPart: Hashable, Sendable {
    /// The bytes are not those that the last line vouches for.
    case checksum
    /// This line, counted from 1, is not what stands there in a vault.
    case line(Int)
    /// The header is not what the vault key vouches for.
    case header
    /// This slot opens, and holds no vault key: somebody has tampered with it.
    case slot(Int)
    /// The list of the entries does not open.
    case manifest
    /// More or fewer records were wiped without the vault key than the file says: somebody has tampered with
    /// it.
    case changes
    /// The sealed part of this record is another one than the list of the entries says.
    case record(RecordID)
    /// This record opens to something that is no entry.
    case content(RecordID)
    /// This record was taken out of the file, and no tombstone was left: somebody has tampered with it.
    case recordGone(RecordID)
    /// This record was wiped, and its old secret is in the file again: somebody put it back.
    case recordRevived(RecordID)
}

/// What a vault holds at most.
public enum VaultLimit: Hashable, Sendable {
    /// 64 MiB.
    case fileSize
    /// 100,000.
    case entries
    /// 16.
    case slots
    /// 4,096 bytes each for issuer and account.
    case name
    /// 90 entries whose failures are counted at a time.
    case countedEntries
    /// 65,536 bytes for what one entry keeps secret.
    case secret
    /// 2^62 savings.
    case generations
}
