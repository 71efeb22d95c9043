package import WatchwordSystem

extension VaultReport: Transferable {
    /// The first byte, which identifies the report.
    enum Kind: UInt8, CaseIterable, Transferable {
        case olderFile, otherFile, conflictingCopy, wiped, generationNotRecorded, wipesNotListed,
            failuresNotCleared, failuresNotCounted, notConfirmed, folderOwnedByOther,
            folderOpenToOthers, vanished, keptUnderSecondName, moreConflictingCopies,
            formerKey, unmergedPrevious, rekeyedCopy, copyNotErased, deviceKeyUnusable
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .olderFile(let generation, let newest):
            output.append(Kind.olderFile, generation, newest)
        case .otherFile(let generation): output.append(Kind.otherFile, generation)
        case .formerKey: output.append(Kind.formerKey)
        case .conflictingCopy(let path): output.append(Kind.conflictingCopy, path)
        case .rekeyedCopy(let path): output.append(Kind.rekeyedCopy, path)
        case .copyNotErased(let path): output.append(Kind.copyNotErased, path)
        case .unmergedPrevious(let path): output.append(Kind.unmergedPrevious, path)
        case .moreConflictingCopies(let count): output.append(Kind.moreConflictingCopies, count)
        case .wiped(let id, let tombstone): output.append(Kind.wiped, id, tombstone)
        case .vanished(let id): output.append(Kind.vanished, id)
        case .deviceKeyUnusable(let id, let problem):
            output.append(Kind.deviceKeyUnusable, id, problem)
        case .keptUnderSecondName(let inode): output.append(Kind.keptUnderSecondName, inode)
        case .generationNotRecorded(let error): output.append(Kind.generationNotRecorded, error)
        case .wipesNotListed(let error): output.append(Kind.wipesNotListed, error)
        case .failuresNotCleared(let error): output.append(Kind.failuresNotCleared, error)
        case .failuresNotCounted: output.append(Kind.failuresNotCounted)
        case .notConfirmed(let failure): output.append(Kind.notConfirmed, failure)
        case .folderOwnedByOther(let user): output.append(Kind.folderOwnedByOther, user)
        case .folderOpenToOthers(let mode): output.append(Kind.folderOpenToOthers, mode)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .olderFile: try fields.make(Self.olderFile, from: bytes)
            case .otherFile: try fields.make(Self.otherFile, from: bytes)
            case .formerKey: .formerKey
            case .conflictingCopy: try fields.make(Self.conflictingCopy, from: bytes)
            case .rekeyedCopy: try fields.make(Self.rekeyedCopy, from: bytes)
            case .copyNotErased: try fields.make(Self.copyNotErased, from: bytes)
            case .unmergedPrevious: try fields.make(Self.unmergedPrevious, from: bytes)
            case .moreConflictingCopies: try fields.make(Self.moreConflictingCopies, from: bytes)
            case .wiped: try fields.make(Self.wiped, from: bytes)
            case .vanished: try fields.make(Self.vanished, from: bytes)
            case .deviceKeyUnusable: try fields.make(Self.deviceKeyUnusable, from: bytes)
            case .keptUnderSecondName: try fields.make(Self.keptUnderSecondName, from: bytes)
            case .generationNotRecorded: try fields.make(Self.generationNotRecorded, from: bytes)
            case .wipesNotListed: try fields.make(Self.wipesNotListed, from: bytes)
            case .failuresNotCleared: try fields.make(Self.failuresNotCleared, from: bytes)
            case .failuresNotCounted: .failuresNotCounted
            case .notConfirmed: try fields.make(Self.notConfirmed, from: bytes)
            case .folderOwnedByOther: try fields.make(Self.folderOwnedByOther, from: bytes)
            case .folderOpenToOthers: try fields.make(Self.folderOpenToOthers, from: bytes)
            }
    }
}

extension PreviousGeneration: Transferable {
    /// The first byte, which identifies the state.
    enum Kind: UInt8, CaseIterable, Transferable {
        case none, whole, unusable
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .none: output.append(Kind.none)
        case .whole(let generation): output.append(Kind.whole, generation)
        case .unusable(let error): output.append(Kind.unusable, error)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .none: .none
            case .whole: try fields.make(Self.whole, from: bytes)
            case .unusable: try fields.make(Self.unusable, from: bytes)
            }
    }
}

extension VaultCheck: Transferable {
    package func write(to output: FrameWriter) {
        output.append(opened, closed, damages, reports, hasRecoveryKey, previous)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension RefusalCost: Transferable {
    /// The first byte, which identifies the cost.
    enum Kind: UInt8, CaseIterable, Transferable {
        case free, wait, wiped, notCounted
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .free(let left): output.append(Kind.free, left)
        case .wait(let seconds): output.append(Kind.wait, seconds)
        case .wiped: output.append(Kind.wiped)
        case .notCounted: output.append(Kind.notCounted)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .free: try fields.make(Self.free, from: bytes)
            case .wait: try fields.make(Self.wait, from: bytes)
            case .wiped: .wiped
            case .notCounted: .notCounted
            }
    }
}

extension LockOut: Transferable {
    package func write(to output: FrameWriter) { output.append(failures, seconds) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(failures:seconds:), from: bytes)
    }
}

extension VaultStatus: Transferable {
    package func write(to output: FrameWriter) {
        output.append(lockOut, wiped, failuresUntilLockOut, failuresUntilWipe)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            lockOut: try fields.value(bytes), wiped: try fields.value(bytes),
            failuresUntilLockOut: try fields.value(bytes),
            failuresUntilWipe: try fields.value(bytes))
    }
}
