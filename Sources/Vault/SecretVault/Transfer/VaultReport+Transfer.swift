package import WatchwordSystem

extension VaultReport: Transferable {
    /// The first byte, which identifies the report.
    enum Kind: UInt8, CaseIterable {
        case olderFile, otherFile, conflictingCopy, wiped, generationNotRecorded, wipesNotListed,
            failuresNotCleared, failuresNotCounted, notConfirmed, folderOwnedByOther,
            folderOpenToOthers, vanished, keptUnderSecondName, moreConflictingCopies,
            formerKey, unmergedPrevious, rekeyedCopy, copyNotErased
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .olderFile(let generation, let newest):
            output.append(choice: Kind.olderFile)
            output.append(generation)
            output.append(newest)
        case .otherFile(let generation):
            output.append(choice: Kind.otherFile)
            output.append(generation)
        case .formerKey: output.append(choice: Kind.formerKey)
        case .conflictingCopy(let path):
            output.append(choice: Kind.conflictingCopy)
            output.append(path)
        case .rekeyedCopy(let path):
            output.append(choice: Kind.rekeyedCopy)
            output.append(path)
        case .copyNotErased(let path):
            output.append(choice: Kind.copyNotErased)
            output.append(path)
        case .unmergedPrevious(let path):
            output.append(choice: Kind.unmergedPrevious)
            output.append(path)
        case .moreConflictingCopies(let count):
            output.append(choice: Kind.moreConflictingCopies)
            output.append(signed: Int64(count))
        case .wiped(let id, let tombstone):
            output.append(choice: Kind.wiped)
            output.append(id)
            output.append(tombstone)
        case .vanished(let id):
            output.append(choice: Kind.vanished)
            output.append(id)
        case .keptUnderSecondName(let inode):
            output.append(choice: Kind.keptUnderSecondName)
            output.append(inode)
        case .generationNotRecorded(let error):
            output.append(choice: Kind.generationNotRecorded)
            output.append(error)
        case .wipesNotListed(let error):
            output.append(choice: Kind.wipesNotListed)
            output.append(error)
        case .failuresNotCleared(let error):
            output.append(choice: Kind.failuresNotCleared)
            output.append(error)
        case .failuresNotCounted: output.append(choice: Kind.failuresNotCounted)
        case .notConfirmed(let failure):
            output.append(choice: Kind.notConfirmed)
            output.append(failure)
        case .folderOwnedByOther(let user):
            output.append(choice: Kind.folderOwnedByOther)
            output.append(UInt64(user), bytes: 4)
        case .folderOpenToOthers(let mode):
            output.append(choice: Kind.folderOpenToOthers)
            output.append(UInt64(mode), bytes: 4)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .olderFile:
            self = .olderFile(
                generation: try fields.value(bytes), newest: try fields.value(bytes))
        case .otherFile: self = .otherFile(generation: try fields.value(bytes))
        case .formerKey: self = .formerKey
        case .conflictingCopy: self = .conflictingCopy(path: try fields.value(bytes))
        case .rekeyedCopy: self = .rekeyedCopy(path: try fields.value(bytes))
        case .copyNotErased: self = .copyNotErased(path: try fields.value(bytes))
        case .unmergedPrevious: self = .unmergedPrevious(path: try fields.value(bytes))
        case .moreConflictingCopies:
            self = .moreConflictingCopies(count: try fields.integer(bytes))
        case .wiped: self = .wiped(try fields.value(bytes), try fields.value(bytes))
        case .vanished: self = .vanished(try fields.value(bytes))
        case .keptUnderSecondName:
            self = .keptUnderSecondName(inode: try fields.value(bytes))
        case .generationNotRecorded: self = .generationNotRecorded(try fields.value(bytes))
        case .wipesNotListed: self = .wipesNotListed(try fields.value(bytes))
        case .failuresNotCleared: self = .failuresNotCleared(try fields.value(bytes))
        case .failuresNotCounted: self = .failuresNotCounted
        case .notConfirmed: self = .notConfirmed(try fields.value(bytes))
        case .folderOwnedByOther:
            self = .folderOwnedByOther(
                UInt32(try fields.number(bytes, width: 4)))
        case .folderOpenToOthers:
            self = .folderOpenToOthers(
                mode: UInt32(try fields.number(bytes, width: 4)))
        }
    }
}

extension PreviousGeneration: Transferable {
    /// The first byte, which identifies the state.
    enum Kind: UInt8, CaseIterable {
        case none, whole, unusable
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .none: output.append(choice: Kind.none)
        case .whole(let generation):
            output.append(choice: Kind.whole)
            output.append(generation)
        case .unusable(let error):
            output.append(choice: Kind.unusable)
            output.append(error)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .none: self = .none
        case .whole: self = .whole(generation: try fields.value(bytes))
        case .unusable: self = .unusable(try fields.value(bytes))
        }
    }
}

extension VaultCheck: Transferable {
    package func write(to output: FrameWriter) {
        output.append(signed: Int64(opened))
        output.append(list: damages)
        output.append(list: reports)
        output.append(hasRecoveryKey)
        output.append(previous)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            opened: try fields.integer(bytes), damages: try fields.values(bytes),
            reports: try fields.values(bytes), hasRecoveryKey: try fields.flag(bytes),
            previous: try fields.value(bytes))
    }
}
