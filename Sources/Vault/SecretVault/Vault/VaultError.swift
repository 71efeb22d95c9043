public import Devices
public import WatchwordCryptography
public import WatchwordSystem

/// Why a vault operation failed.
///
/// No case carries any of the vault's content.
public enum VaultError: SystemCallError, Hashable, Sendable {
    // The file at the path.
    /// There is no vault at this path.
    case notFound
    /// There is already a file at this path.
    case alreadyExists
    /// The vault at this path was removed, but its previous generation still exists.
    case previousLeft
    /// No vault can be created here: the place is reserved for the program's own files.
    case reservedPath
    /// This is a previous generation that the program keeps; it can only be read.
    case previousGeneration
    /// The path is a folder.
    case folder
    /// The path is a symbolic link; links are not followed.
    case symbolicLink
    /// The path is a device, a pipe or a socket.
    case notAFile
    /// The file belongs to another user, with this ID.
    case otherOwner(UInt32)
    /// Users other than the owner may read or write the file, according to these permission bits.
    case openToOthers(mode: UInt32)
    /// The file is larger than any vault.
    case tooLarge
    /// The vault, or something in it, would exceed a limit.
    case overLimit(VaultLimit)

    // The content of the file.
    /// The file is not a vault.
    case notAVault
    /// The file uses this newer version of the format.
    case newerVersion(Int)
    /// The attempts file uses this newer version of its format.
    case newerAttempts(Int)
    /// The file contains git's conflict markers: git has tried to merge it as text.
    case conflictMarkers
    /// The end of the file is missing.
    case truncated
    /// The file was changed after it was written.
    case damaged(VaultPart)
    /// The same, for the other file of a merge.
    case copyDamaged(VaultPart)
    /// Trying a passphrase on every slot would cost too much, and the slots that were tried did not
    /// open. The values are base-2 logarithms: of the sum of scrypt's N over all slots, and of the
    /// maximum allowed.
    case costOverCeiling(logN: Int, ceiling: Int)
    /// Deriving a key as the file requires needs more memory than the process may use. Both values
    /// are in bytes.
    case notEnoughMemory(needed: Int, limit: Int)

    // Permission to open or save.
    /// No slot opens with this passphrase.
    case wrongPassphrase
    /// No slot opens with this recovery key.
    case wrongRecoveryKey
    /// The device's secret does not open its slot: the slot was changed, or the device gave another
    /// secret.
    case wrongDevice
    /// Too many failures; the next attempt is allowed after this many seconds. A recovery key opens
    /// the vault at once.
    case lockedOut(seconds: Int64)
    /// The attempt could not be recorded on disk, so it was not made. A recovery key opens the
    /// vault without being counted.
    case notCounted(SystemCallFailure)
    /// The attempt was made, but its outcome could not be recorded on disk, so it is not reported.
    /// The attempt stays undecided.
    case outcomeNotRecorded(SystemCallFailure)
    /// The vault was to be opened read-only, without counting attempts, but they can be counted
    /// here.
    case writable
    /// An entry has to be wiped after refused attempts, but the vault cannot be written.
    case wipingDue
    /// The vault was opened read-only.
    case openedReadOnly
    /// The proof of presence is not valid here.
    case proofRefused(PresenceProofRefusal)
    /// This entry requires a check at each use, and the check at unlocking has already been used.
    case presenceNeeded
    /// This entry requires a different check.
    case differentCheckRequired
    /// Another process holds the lock.
    case busy
    /// Another vault replaced this one while it was open.
    case replaced
    /// While the vault was being saved, another program (such as one that synchronises folders)
    /// replaced its file. The other program's file was kept, and nothing was saved.
    case changedMeanwhile
    /// While this vault was open, another process gave it a new key.
    case rekeyed

    // A typed recovery key.
    /// It has the wrong number of letters and digits.
    case recoveryKeyLength(Int, expected: Int)
    /// A character is neither a letter nor one of the digits 2 to 7.
    case recoveryKeyCharacter
    /// Its checksum does not match: at least one character is wrong.
    case recoveryKeyMistyped

    // The request.
    /// There is no such entry.
    case noSuchEntry
    /// The last change cannot be undone, or it changed nothing that can be undone.
    case nothingToUndo(NothingToUndo)
    /// The file belongs to another vault, with another ID.
    case otherVault
    /// The other file of a merge has a newer key: what opened the vault before must not open what
    /// was added there.
    case copyHasNewerKey
    /// The entry was wiped; only its name is left.
    case wiped
    /// The entry has lost its secret: it has vanished (``VaultReport/vanished(_:)``).
    case vanished
    /// Entries have vanished (``VaultReport/vanished(_:)``), or the previous generation is not
    /// merged (``VaultReport/unmergedPrevious(path:)``): it may have the only copies of what the
    /// vault lacks, and must not be erased.
    case vanishedEntries
    /// The entry is bound to another device, or to a key that this device has lost.
    case boundElsewhere
    /// The entry is bound to this device, whose key cannot be used.
    case deviceKey(DeviceKeyProblem)
    /// A name begins or ends with a space of any kind.
    case spaceAroundName
    /// A tag is empty, begins or ends with a space of any kind, or occurs twice.
    case invalidTag
    /// The entry is not of the requested kind.
    case otherKind
    /// The counter has reached its maximum; the service must issue a new key.
    case counterExhausted
    /// There is no such slot.
    case noSuchSlot
    /// The slot is the last one that opens the vault on every device.
    case lastSlot

    // Files beside the vault.
    /// An unrelated file has a name that the vault needs; it was not changed. The name is a path
    /// relative to the vault's folder.
    case inTheWay(name: String)
    /// The change is saved, but the previous generation could not be erased.
    case previousNotErased(SystemCallFailure)
    /// The change is saved, but the system did not confirm that it is on disk; nothing was purged.
    case notConfirmed(SystemCallFailure)

    // External failures.
    /// A system call failed.
    case system(SystemCallFailure)
    /// A call into OpenSSL failed, for example because memory ran out.
    case cryptography(CryptographyFailure)

    /// Whether the change was saved despite this error.
    public var isSaved: Bool {
        switch self {
        case .previousNotErased, .notConfirmed: true
        default: false
        }
    }
}

/// Why there is nothing to undo.
public enum NothingToUndo: CaseIterable, Hashable, Sendable {
    /// There is no previous generation: there never was one, or it was purged.
    case noPrevious
    /// The vault was rekeyed since then.
    case rekeyed
    /// The previous generation is not the one that the last change replaced.
    case notPredecessor
    /// The last change only advanced counters and enrolled secrets, which are never rolled back.
    case onlyAdvanced
    /// The last change only enrolled this device.
    case enrolment
    /// The last change did not change an entry.
    case noEntry
    /// Entries have vanished, and the previous generation does not have their secrets.
    case vanished
    /// The last change concerns only secrets that are or were bound to devices whose keys are not
    /// here, with their access control and bindings.
    case closed
}

/// Which part of a vault file is damaged.
public enum VaultPart: Hashable, Sendable {
    /// The bytes do not match the digest in the last line.
    case checksum
    /// This line (counted from 1) does not follow the format.
    case line(Int)
    /// The header does not match its MAC.
    case header
    /// This slot opens but contains no vault key: somebody has tampered with it.
    case slot(Int)
    /// The manifest does not open, or does not match the header.
    case manifest
    /// The number of records that were wiped without the vault key does not match the file's count:
    /// somebody has tampered with it.
    case changes
    /// The secret or tombstone of this record does not match the manifest.
    case record(RecordID)
    /// This record opens, but its content is not a valid entry.
    case content(RecordID)
    /// This record was removed from the file without a tombstone: somebody has tampered with it.
    case recordRemoved(RecordID)
    /// This record was wiped, but its old secret is in the file again: somebody restored it.
    case recordRestored(RecordID)
}

// Every error of another module becomes a vault's error here.
extension VaultError {
    /// Converts an error about a file.
    ///
    /// - Parameter path: the path of a file with this name, relative to the vault's folder.
    static func file<Result: ~Copyable>(
        in call: @autoclosure () throws(FileError) -> Result,
        at path: (String) -> String = { $0 }
    ) throws(VaultError) -> Result {
        do {
            return try call()
        } catch {
            switch error {
            case .missing: throw .notFound
            case .folder: throw .folder
            case .symbolicLink: throw .symbolicLink
            case .otherOwner(let user): throw .otherOwner(user)
            case .openToOthers(let mode): throw .openToOthers(mode: mode)
            case .tooLarge: throw .tooLarge
            case .busy: throw .busy
            case .inTheWay(let name): throw .inTheWay(name: path(name))
            case .changed: throw .changedMeanwhile
            case .notConfirmed(let failure): throw .notConfirmed(failure)
            case .system(let failure): throw .system(failure)
            case .notAFile: throw .notAFile
            // The other reasons concern files that the user named.
            case .noFolder, .forbidden, .exists, .namesFolder, .notReplaceable, .pipe,
                .protected, .empty, .utf16, .nameNotUTF8, .tooDeep:
                throw .notAFile
            }
        }
    }

    /// Converts the failure of a call into OpenSSL.
    static func cryptography<Result>(
        in call: @autoclosure () throws(CryptographyFailure) -> Result
    ) throws(VaultError) -> Result {
        do { return try call() } catch { throw .cryptography(error) }
    }

    /// Throws `refusal`, unless a call into OpenSSL failed.
    static func cryptography<Result>(
        in call: @autoclosure () throws(CryptographyError) -> Result, or refusal: VaultError
    ) throws(VaultError) -> Result {
        do {
            return try call()
        } catch {
            guard case .failed(let failure) = error else { throw refusal }
            throw .cryptography(failure)
        }
    }
}

// What an error means depends on when it occurs.
extension VaultError {
    /// Converts the errors of counting an attempt before it is made.
    static func counting<Result: ~Copyable>(
        _ step: @autoclosure () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do {
            return try step()
        } catch {
            switch error {
            case .system(let failure), .notConfirmed(let failure): throw .notCounted(failure)
            default: throw error
            }
        }
    }

    /// Converts the errors of recording the outcome of an attempt that was made.
    static func recording<Result>(
        _ step: @autoclosure () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) {
            return try step()
        } catch .notCounted(let failure) {
            throw .outcomeNotRecorded(failure)
        }
    }

    /// Converts the errors of erasing older files after the vault was saved, which must not suggest
    /// that nothing was saved.
    static func erasingOlder(
        _ step: @autoclosure () throws(VaultError) -> Void
    ) throws(VaultError) {
        do throws(VaultError) {
            try step()
        } catch .system(let failure) {
            throw .previousNotErased(failure)
        }
    }

    /// Returns `nil` if there is no such file.
    static func ifFound<Result: ~Copyable>(
        _ step: @autoclosure () throws(VaultError) -> Result
    ) throws(VaultError) -> Result? {
        do throws(VaultError) {
            return try step()
        } catch .notFound {
            return nil
        }
    }
}
