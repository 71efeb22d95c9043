package import Devices
package import WatchwordCryptography
package import WatchwordSystem

extension VaultError: Transferable {
    /// The kind of error, in the first byte.
    enum Kind: UInt8, CaseIterable, Transferable {
        case notFound, alreadyExists, reservedPath, previousGeneration, folder, symbolicLink,
            notAFile, otherOwner, openToOthers, overLimit, notAVault, newerVersion, newerAttempts,
            truncated, damaged, costOverCeiling, notEnoughMemory, wrongPassphrase, wrongRecoveryKey,
            lockedOut, notCounted, writable, wipingDue, openedReadOnly, proofRefused,
            presenceNeeded, differentCheckRequired, busy, replaced, changedMeanwhile, rekeyed,
            noSuchEntry, nothingToUndo, otherVault, wiped, spaceAroundName, invalidTag, otherKind,
            counterExhausted, noSuchSlot, lastSlot, inTheWay, previousNotErased, notConfirmed,
            system, cryptography, previousLeft, copyDamaged, wrongDevice,
            vanishedEntries, conflictMarkers, outcomeNotRecorded, tooLarge, vanished,
            copyHasNewerKey, recoveryKeyLength, recoveryKeyCharacter, recoveryKeyMistyped,
            boundElsewhere, deviceKey
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .notFound: output.append(Kind.notFound)
        case .alreadyExists: output.append(Kind.alreadyExists)
        case .reservedPath: output.append(Kind.reservedPath)
        case .previousGeneration: output.append(Kind.previousGeneration)
        case .folder: output.append(Kind.folder)
        case .symbolicLink: output.append(Kind.symbolicLink)
        case .notAFile: output.append(Kind.notAFile)
        case .otherOwner(let user): output.append(Kind.otherOwner, user)
        case .openToOthers(let mode): output.append(Kind.openToOthers, mode)
        case .overLimit(let limit): output.append(Kind.overLimit, limit)
        case .notAVault: output.append(Kind.notAVault)
        case .newerVersion(let version): output.append(Kind.newerVersion, version)
        case .newerAttempts(let version): output.append(Kind.newerAttempts, version)
        case .copyHasNewerKey: output.append(Kind.copyHasNewerKey)
        case .conflictMarkers: output.append(Kind.conflictMarkers)
        case .truncated: output.append(Kind.truncated)
        case .damaged(let part): output.append(Kind.damaged, part)
        case .costOverCeiling(let logN, let ceiling):
            output.append(Kind.costOverCeiling, logN, ceiling)
        case .notEnoughMemory(let needed, let limit):
            output.append(Kind.notEnoughMemory, needed, limit)
        case .wrongPassphrase: output.append(Kind.wrongPassphrase)
        case .wrongRecoveryKey: output.append(Kind.wrongRecoveryKey)
        case .wrongDevice: output.append(Kind.wrongDevice)
        case .lockedOut(let seconds): output.append(Kind.lockedOut, seconds)
        case .notCounted(let failure): output.append(Kind.notCounted, failure)
        case .outcomeNotRecorded(let failure): output.append(Kind.outcomeNotRecorded, failure)
        case .tooLarge: output.append(Kind.tooLarge)
        case .writable: output.append(Kind.writable)
        case .wipingDue: output.append(Kind.wipingDue)
        case .openedReadOnly: output.append(Kind.openedReadOnly)
        case .proofRefused(let reason): output.append(Kind.proofRefused, reason)
        case .presenceNeeded: output.append(Kind.presenceNeeded)
        case .differentCheckRequired: output.append(Kind.differentCheckRequired)
        case .busy: output.append(Kind.busy)
        case .replaced: output.append(Kind.replaced)
        case .changedMeanwhile: output.append(Kind.changedMeanwhile)
        case .rekeyed: output.append(Kind.rekeyed)
        case .recoveryKeyLength(let count, let expected):
            output.append(Kind.recoveryKeyLength, count, expected)
        case .recoveryKeyCharacter: output.append(Kind.recoveryKeyCharacter)
        case .recoveryKeyMistyped: output.append(Kind.recoveryKeyMistyped)
        case .noSuchEntry: output.append(Kind.noSuchEntry)
        case .nothingToUndo(let reason): output.append(Kind.nothingToUndo, reason)
        case .otherVault: output.append(Kind.otherVault)
        case .wiped: output.append(Kind.wiped)
        case .vanished: output.append(Kind.vanished)
        case .vanishedEntries: output.append(Kind.vanishedEntries)
        case .spaceAroundName: output.append(Kind.spaceAroundName)
        case .invalidTag: output.append(Kind.invalidTag)
        case .otherKind: output.append(Kind.otherKind)
        case .counterExhausted: output.append(Kind.counterExhausted)
        case .noSuchSlot: output.append(Kind.noSuchSlot)
        case .lastSlot: output.append(Kind.lastSlot)
        case .inTheWay(let name): output.append(Kind.inTheWay, name)
        case .previousNotErased(let failure): output.append(Kind.previousNotErased, failure)
        case .notConfirmed(let failure): output.append(Kind.notConfirmed, failure)
        case .system(let failure): output.append(Kind.system, failure)
        case .cryptography(let failure): output.append(Kind.cryptography, failure)
        case .previousLeft: output.append(Kind.previousLeft)
        case .copyDamaged(let part): output.append(Kind.copyDamaged, part)
        case .boundElsewhere: output.append(Kind.boundElsewhere)
        case .deviceKey(let problem): output.append(Kind.deviceKey, problem)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .notFound: .notFound
            case .alreadyExists: .alreadyExists
            case .reservedPath: .reservedPath
            case .previousGeneration: .previousGeneration
            case .folder: .folder
            case .symbolicLink: .symbolicLink
            case .notAFile: .notAFile
            case .otherOwner: try fields.make(Self.otherOwner, from: bytes)
            case .openToOthers: try fields.make(Self.openToOthers, from: bytes)
            case .overLimit: try fields.make(Self.overLimit, from: bytes)
            case .notAVault: .notAVault
            case .newerVersion: try fields.make(Self.newerVersion, from: bytes)
            case .newerAttempts: try fields.make(Self.newerAttempts, from: bytes)
            case .copyHasNewerKey: .copyHasNewerKey
            case .conflictMarkers: .conflictMarkers
            case .truncated: .truncated
            case .damaged: try fields.make(Self.damaged, from: bytes)
            case .costOverCeiling: try fields.make(Self.costOverCeiling, from: bytes)
            case .notEnoughMemory: try fields.make(Self.notEnoughMemory, from: bytes)
            case .wrongPassphrase: .wrongPassphrase
            case .wrongRecoveryKey: .wrongRecoveryKey
            case .wrongDevice: .wrongDevice
            case .lockedOut: try fields.make(Self.lockedOut, from: bytes)
            case .notCounted: try fields.make(Self.notCounted, from: bytes)
            case .outcomeNotRecorded: try fields.make(Self.outcomeNotRecorded, from: bytes)
            case .tooLarge: .tooLarge
            case .writable: .writable
            case .wipingDue: .wipingDue
            case .openedReadOnly: .openedReadOnly
            case .proofRefused: try fields.make(Self.proofRefused, from: bytes)
            case .presenceNeeded: .presenceNeeded
            case .differentCheckRequired: .differentCheckRequired
            case .busy: .busy
            case .replaced: .replaced
            case .changedMeanwhile: .changedMeanwhile
            case .rekeyed: .rekeyed
            case .recoveryKeyLength: try fields.make(Self.recoveryKeyLength, from: bytes)
            case .recoveryKeyCharacter: .recoveryKeyCharacter
            case .recoveryKeyMistyped: .recoveryKeyMistyped
            case .noSuchEntry: .noSuchEntry
            case .nothingToUndo: try fields.make(Self.nothingToUndo, from: bytes)
            case .otherVault: .otherVault
            case .wiped: .wiped
            case .vanished: .vanished
            case .vanishedEntries: .vanishedEntries
            case .spaceAroundName: .spaceAroundName
            case .invalidTag: .invalidTag
            case .otherKind: .otherKind
            case .counterExhausted: .counterExhausted
            case .noSuchSlot: .noSuchSlot
            case .lastSlot: .lastSlot
            case .inTheWay: try fields.make(Self.inTheWay, from: bytes)
            case .previousNotErased: try fields.make(Self.previousNotErased, from: bytes)
            case .notConfirmed: try fields.make(Self.notConfirmed, from: bytes)
            case .system: try fields.make(Self.system, from: bytes)
            case .cryptography: try fields.make(Self.cryptography, from: bytes)
            case .previousLeft: .previousLeft
            case .copyDamaged: try fields.make(Self.copyDamaged, from: bytes)
            case .boundElsewhere: .boundElsewhere
            case .deviceKey: try fields.make(Self.deviceKey, from: bytes)
            }
    }
}

extension DeviceKeyProblem: Transferable {
    /// The first byte, which identifies the problem.
    enum Kind: UInt8, CaseIterable, Transferable {
        case missing, damaged, openToOthers, otherOwner, inTheWay, notPlace, otherTPM, notLocked
        case token, file
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .missing: output.append(Kind.missing)
        case .damaged: output.append(Kind.damaged)
        case .openToOthers: output.append(Kind.openToOthers)
        case .otherOwner: output.append(Kind.otherOwner)
        case .inTheWay: output.append(Kind.inTheWay)
        case .notPlace(let binding): output.append(Kind.notPlace, binding)
        case .otherTPM: output.append(Kind.otherTPM)
        case .notLocked: output.append(Kind.notLocked)
        case .token(let failure): output.append(Kind.token, failure)
        case .file(let failure): output.append(Kind.file, failure)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .missing: .missing
            case .damaged: .damaged
            case .openToOthers: .openToOthers
            case .otherOwner: .otherOwner
            case .inTheWay: .inTheWay
            case .notPlace: try fields.make(Self.notPlace, from: bytes)
            case .otherTPM: .otherTPM
            case .notLocked: .notLocked
            case .token: try fields.make(Self.token, from: bytes)
            case .file: try fields.make(Self.file, from: bytes)
            }
    }
}

extension CryptographyFailure: Transferable {
    package func write(to output: FrameWriter) { output.append(call, code) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(call:code:), from: bytes)
    }
}

extension CryptographyFailure.Call: Transferable {}
extension NothingToUndo: Transferable {}
extension PresenceProofRefusal: Transferable {}
extension VaultLimit: Transferable {}

extension VaultPart: Transferable {
    /// The first byte, which identifies the part.
    enum Kind: UInt8, CaseIterable, Transferable {
        case checksum, line, header, slot, manifest, changes, record, content, recordRemoved,
            recordRestored
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .checksum: output.append(Kind.checksum)
        case .line(let number): output.append(Kind.line, number)
        case .header: output.append(Kind.header)
        case .slot(let number): output.append(Kind.slot, number)
        case .manifest: output.append(Kind.manifest)
        case .changes: output.append(Kind.changes)
        case .record(let id): output.append(Kind.record, id)
        case .content(let id): output.append(Kind.content, id)
        case .recordRemoved(let id): output.append(Kind.recordRemoved, id)
        case .recordRestored(let id): output.append(Kind.recordRestored, id)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .checksum: .checksum
            case .line: try fields.make(Self.line, from: bytes)
            case .header: .header
            case .slot: try fields.make(Self.slot, from: bytes)
            case .manifest: .manifest
            case .changes: .changes
            case .record: try fields.make(Self.record, from: bytes)
            case .content: try fields.make(Self.content, from: bytes)
            case .recordRemoved: try fields.make(Self.recordRemoved, from: bytes)
            case .recordRestored: try fields.make(Self.recordRestored, from: bytes)
            }
    }
}
