internal import Devices
package import WatchwordSystem

extension VaultError: Transferable {
    /// The kind of error, in the first byte.
    enum Kind: UInt8, CaseIterable {
        case notFound, alreadyExists, reservedPath, previousGeneration, folder, symbolicLink,
            notAFile, otherOwner, openToOthers, overLimit, notAVault, newerVersion, newerAttempts,
            truncated, damaged, costOverCeiling, notEnoughMemory, wrongPassphrase, wrongRecoveryKey,
            lockedOut, notCounted, writable, wipingDue, openedReadOnly, proofRefused,
            presenceNeeded, differentCheckRequired, busy, replaced, changedMeanwhile, rekeyed,
            noSuchEntry, nothingToUndo, otherVault, wiped, spaceAroundName, invalidTag, otherKind,
            counterExhausted, noSuchSlot, lastSlot, inTheWay, previousNotErased, notConfirmed,
            system, cryptography, previousLeft, copyDamaged, wrongDevice,
            vanishedEntries, conflictMarkers, outcomeNotRecorded, tooLarge, vanished,
            copyHasNewerKey
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .notFound: output.append(choice: Kind.notFound)
        case .alreadyExists: output.append(choice: Kind.alreadyExists)
        case .reservedPath: output.append(choice: Kind.reservedPath)
        case .previousGeneration: output.append(choice: Kind.previousGeneration)
        case .folder: output.append(choice: Kind.folder)
        case .symbolicLink: output.append(choice: Kind.symbolicLink)
        case .notAFile: output.append(choice: Kind.notAFile)
        case .otherOwner(let user):
            output.append(choice: Kind.otherOwner)
            output.append(UInt64(user), bytes: 4)
        case .openToOthers(let mode):
            output.append(choice: Kind.openToOthers)
            output.append(UInt64(mode), bytes: 4)
        case .overLimit(let limit):
            output.append(choice: Kind.overLimit)
            output.append(position: limit)
        case .notAVault: output.append(choice: Kind.notAVault)
        case .newerVersion(let version):
            output.append(choice: Kind.newerVersion)
            output.append(signed: Int64(version))
        case .newerAttempts(let version):
            output.append(choice: Kind.newerAttempts)
            output.append(signed: Int64(version))
        case .copyHasNewerKey: output.append(choice: Kind.copyHasNewerKey)
        case .conflictMarkers: output.append(choice: Kind.conflictMarkers)
        case .truncated: output.append(choice: Kind.truncated)
        case .damaged(let part):
            output.append(choice: Kind.damaged)
            output.append(part)
        case .costOverCeiling(let logN, let ceiling):
            output.append(choice: Kind.costOverCeiling)
            output.append(signed: Int64(logN))
            output.append(signed: Int64(ceiling))
        case .notEnoughMemory(let needed, let limit):
            output.append(choice: Kind.notEnoughMemory)
            output.append(signed: Int64(needed))
            output.append(signed: Int64(limit))
        case .wrongPassphrase: output.append(choice: Kind.wrongPassphrase)
        case .wrongRecoveryKey: output.append(choice: Kind.wrongRecoveryKey)
        case .wrongDevice: output.append(choice: Kind.wrongDevice)
        case .lockedOut(let seconds):
            output.append(choice: Kind.lockedOut)
            output.append(signed: seconds)
        case .notCounted(let failure):
            output.append(choice: Kind.notCounted)
            output.append(failure)
        case .outcomeNotRecorded(let failure):
            output.append(choice: Kind.outcomeNotRecorded)
            output.append(failure)
        case .tooLarge: output.append(choice: Kind.tooLarge)
        case .writable: output.append(choice: Kind.writable)
        case .wipingDue: output.append(choice: Kind.wipingDue)
        case .openedReadOnly: output.append(choice: Kind.openedReadOnly)
        case .proofRefused(let reason):
            output.append(choice: Kind.proofRefused)
            output.append(position: reason)
        case .presenceNeeded: output.append(choice: Kind.presenceNeeded)
        case .differentCheckRequired: output.append(choice: Kind.differentCheckRequired)
        case .busy: output.append(choice: Kind.busy)
        case .replaced: output.append(choice: Kind.replaced)
        case .changedMeanwhile: output.append(choice: Kind.changedMeanwhile)
        case .rekeyed: output.append(choice: Kind.rekeyed)
        case .noSuchEntry: output.append(choice: Kind.noSuchEntry)
        case .nothingToUndo(let reason):
            output.append(choice: Kind.nothingToUndo)
            output.append(position: reason)
        case .otherVault: output.append(choice: Kind.otherVault)
        case .wiped: output.append(choice: Kind.wiped)
        case .vanished: output.append(choice: Kind.vanished)
        case .vanishedEntries: output.append(choice: Kind.vanishedEntries)
        case .spaceAroundName: output.append(choice: Kind.spaceAroundName)
        case .invalidTag: output.append(choice: Kind.invalidTag)
        case .otherKind: output.append(choice: Kind.otherKind)
        case .counterExhausted: output.append(choice: Kind.counterExhausted)
        case .noSuchSlot: output.append(choice: Kind.noSuchSlot)
        case .lastSlot: output.append(choice: Kind.lastSlot)
        case .inTheWay(let name):
            output.append(choice: Kind.inTheWay)
            output.append(name)
        case .previousNotErased(let failure):
            output.append(choice: Kind.previousNotErased)
            output.append(failure)
        case .notConfirmed(let failure):
            output.append(choice: Kind.notConfirmed)
            output.append(failure)
        case .system(let failure):
            output.append(choice: Kind.system)
            output.append(failure)
        case .cryptography(let failure):
            output.append(choice: Kind.cryptography)
            output.append(failure)
        case .previousLeft: output.append(choice: Kind.previousLeft)
        case .copyDamaged(let part):
            output.append(choice: Kind.copyDamaged)
            output.append(part)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .notFound: self = .notFound
        case .alreadyExists: self = .alreadyExists
        case .reservedPath: self = .reservedPath
        case .previousGeneration: self = .previousGeneration
        case .folder: self = .folder
        case .symbolicLink: self = .symbolicLink
        case .notAFile: self = .notAFile
        case .otherOwner: self = .otherOwner(UInt32(try fields.number(bytes, width: 4)))
        case .openToOthers: self = .openToOthers(mode: UInt32(try fields.number(bytes, width: 4)))
        case .overLimit: self = .overLimit(try fields.choiceByPosition(bytes))
        case .notAVault: self = .notAVault
        case .newerVersion: self = .newerVersion(try fields.integer(bytes))
        case .newerAttempts: self = .newerAttempts(try fields.integer(bytes))
        case .copyHasNewerKey: self = .copyHasNewerKey
        case .conflictMarkers: self = .conflictMarkers
        case .truncated: self = .truncated
        case .damaged: self = .damaged(try fields.value(bytes))
        case .costOverCeiling:
            self = .costOverCeiling(
                logN: try fields.integer(bytes), ceiling: try fields.integer(bytes))
        case .notEnoughMemory:
            self = .notEnoughMemory(
                needed: try fields.integer(bytes), limit: try fields.integer(bytes))
        case .wrongPassphrase: self = .wrongPassphrase
        case .wrongRecoveryKey: self = .wrongRecoveryKey
        case .wrongDevice: self = .wrongDevice
        case .lockedOut: self = .lockedOut(seconds: try fields.signedNumber(bytes))
        case .notCounted: self = .notCounted(try fields.value(bytes))
        case .outcomeNotRecorded: self = .outcomeNotRecorded(try fields.value(bytes))
        case .tooLarge: self = .tooLarge
        case .writable: self = .writable
        case .wipingDue: self = .wipingDue
        case .openedReadOnly: self = .openedReadOnly
        case .proofRefused: self = .proofRefused(try fields.choiceByPosition(bytes))
        case .presenceNeeded: self = .presenceNeeded
        case .differentCheckRequired: self = .differentCheckRequired
        case .busy: self = .busy
        case .replaced: self = .replaced
        case .changedMeanwhile: self = .changedMeanwhile
        case .rekeyed: self = .rekeyed
        case .noSuchEntry: self = .noSuchEntry
        case .nothingToUndo: self = .nothingToUndo(try fields.choiceByPosition(bytes))
        case .otherVault: self = .otherVault
        case .wiped: self = .wiped
        case .vanished: self = .vanished
        case .vanishedEntries: self = .vanishedEntries
        case .spaceAroundName: self = .spaceAroundName
        case .invalidTag: self = .invalidTag
        case .otherKind: self = .otherKind
        case .counterExhausted: self = .counterExhausted
        case .noSuchSlot: self = .noSuchSlot
        case .lastSlot: self = .lastSlot
        case .inTheWay: self = .inTheWay(name: try fields.value(bytes))
        case .previousNotErased: self = .previousNotErased(try fields.value(bytes))
        case .notConfirmed: self = .notConfirmed(try fields.value(bytes))
        case .system: self = .system(try fields.value(bytes))
        case .cryptography: self = .cryptography(try fields.value(bytes))
        case .previousLeft: self = .previousLeft
        case .copyDamaged: self = .copyDamaged(try fields.value(bytes))
        }
    }
}
