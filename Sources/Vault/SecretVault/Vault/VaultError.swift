public import Devices
public import WatchwordCryptography
public import WatchwordSystem

/// The reason why a vault operation failed.
///
/// No case carries any of the vault's content.
public enum VaultError: SystemCallError, Hashable, Sendable {
    // The file at the path.
    /// There is no vault at this path.
    case notFound
    /// A file already exists at this path.
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
    /// The file belongs to the user with this ID, not to the current user.
    case otherOwner(UInt32)
    /// Users other than the owner may read or write the file, as these permission bits show.
    case openToOthers(mode: UInt32)
    /// The file is larger than any vault.
    case tooLarge
    /// The vault, or a part of it, would exceed this limit.
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
    /// This part of the other file of a merge was changed after that file was written.
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
    /// The device's secret does not open its slot: the slot was changed, or the device returned a
    /// different secret.
    case wrongDevice
    /// Too many failures; the next attempt is allowed after this many seconds. A recovery key opens
    /// the vault despite the wait.
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
    /// An entry must be wiped because of refused attempts, but the vault cannot be written.
    case wipingDue
    /// The vault was opened read-only.
    case openedReadOnly
    /// The proof of presence was refused for this reason.
    case proofRefused(PresenceProofRefusal)
    /// This entry requires a check at each use, and the check at unlocking has already been used.
    case presenceNeeded
    /// This entry does not accept this kind of check.
    case differentCheckRequired
    /// Another process holds the lock or has changed the vault, or the vault's keys were wiped.
    case busy
    /// A different vault replaced this one while it was open.
    case replaced
    /// While the vault was being saved, another program (such as one that synchronises folders)
    /// replaced its file. The file of the other program was kept, and nothing was saved.
    case changedMeanwhile
    /// While this vault was open, another process gave it a new key.
    case rekeyed

    // A typed recovery key.
    /// The recovery key has the wrong number of letters and digits.
    case recoveryKeyLength(Int, expected: Int)
    /// A character is neither a letter nor one of the digits 2 to 7.
    case recoveryKeyCharacter
    /// The checksum of the recovery key does not match: at least one character is wrong.
    case recoveryKeyMistyped

    // The request.
    /// The vault has no entry with this ID.
    case noSuchEntry
    /// The last change cannot be undone, or it changed nothing that can be undone.
    case nothingToUndo(NothingToUndo)
    /// The file belongs to a different vault: its vault ID is different.
    case otherVault
    /// The other file of a merge has a newer key: passphrases that opened the vault before must not
    /// open entries that were added there.
    case copyHasNewerKey
    /// The entry was wiped: only its name and properties are left.
    case wiped
    /// The entry has lost its secret: it has vanished (``VaultReport/vanished(_:)``).
    case vanished
    /// Entries have vanished (``VaultReport/vanished(_:)``), or the previous generation is not
    /// merged (``VaultReport/unmergedPrevious(path:)``): the previous generation may have the only
    /// copies of data that the vault lacks, and must not be erased.
    case vanishedEntries
    /// The entry is bound to a different device, or to a key that this device has lost.
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
    /// The vault has no such slot, or the slot has been changed.
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

/// The reason why there is nothing to undo.
public enum NothingToUndo: CaseIterable, Hashable, Sendable {
    /// There is no previous generation: the vault was saved only once, or the generation was
    /// purged.
    case noPrevious
    /// The vault was rekeyed since the previous generation was saved.
    case rekeyed
    /// The previous generation is not the one that the last change replaced.
    case notPredecessor
    /// The last change only advanced counters and enrolled secrets, which are never rolled back.
    case onlyAdvanced
    /// The last change only enrolled this device.
    case enrolment
    /// The last change did not affect any entry.
    case noEntry
    /// Entries have vanished, and the previous generation does not have their secrets.
    case vanished
    /// The last change concerns only secrets that are or were bound to devices whose keys are not
    /// here, with their access control and bindings.
    case closed
}

/// The part of a vault file that is damaged.
public enum VaultPart: Hashable, Sendable {
    /// The bytes do not match the digest in the last line.
    case checksum
    /// This line, counted from 1, does not follow the format.
    case line(Int)
    /// The header does not match its MAC.
    case header
    /// The slot with this number opens but contains no vault key: the file was tampered with.
    case slot(Int)
    /// The manifest does not open, or does not match the header.
    case manifest
    /// The number of records that were wiped without the vault key does not match the count in the
    /// file: the file was tampered with.
    case changes
    /// The secret or tombstone of this record does not match the manifest.
    case record(RecordID)
    /// This record opens, but its content is not a valid entry.
    case content(RecordID)
    /// This record was removed from the file without a tombstone: the file was tampered with.
    case recordRemoved(RecordID)
    /// This record was wiped, but its old secret was put back into the file.
    case recordRestored(RecordID)
}

// Converts the errors of other modules to ``VaultError``.
extension VaultError {
    /// Converts an error about a file.
    ///
    /// - Parameter path: returns the path of a file with this name, relative to the vault's folder.
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
            // The other reasons concern files that the user specified.
            case .noFolder, .forbidden, .exists, .namesFolder, .notReplaceable, .pipe,
                .protected, .empty, .utf16, .nameNotUTF8, .tooDeep:
                throw .notAFile
            }
        }
    }

    /// Converts the failure of a call into OpenSSL to ``VaultError/cryptography(_:)``.
    static func cryptography<Result>(
        in call: @autoclosure () throws(CryptographyFailure) -> Result
    ) throws(VaultError) -> Result {
        do { return try call() } catch { throw .cryptography(error) }
    }

    /// Throws `refusal` for all errors except the failure of a call into OpenSSL.
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

// The meaning of an error depends on the step in which it occurs.
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

    /// Returns `nil` if the file does not exist.
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
