package import WatchwordSystem

// The effects of an undo or a merge, as exchanged between `watchword` and its agent.

extension UndoneChange: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id, issuer, account, renamedFrom, action, requiresCheck, changesCodesOfKey)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(
            Self.init(
                id:issuer:account:renamedFrom:action:requiresCheck:changesCodesOfKey:),
            from: bytes)
    }
}

extension UndoneChange.Action: Transferable {
    /// The first byte, which identifies the action.
    enum Kind: UInt8, CaseIterable, Transferable {
        case restored, restoredOlder, removed, changedBack, kept, closed
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .restored: output.append(Kind.restored)
        case .restoredOlder(let older): output.append(Kind.restoredOlder, older)
        case .removed: output.append(Kind.removed)
        case .changedBack(let parts): output.append(Kind.changedBack, parts)
        case .kept: output.append(Kind.kept)
        case .closed(let device): output.append(Kind.closed, device)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .restored: .restored
            case .restoredOlder: try fields.make(Self.restoredOlder, from: bytes)
            case .removed: .removed
            case .changedBack: try fields.make(Self.changedBack, from: bytes)
            case .kept: .kept
            case .closed: try fields.make(Self.closed, from: bytes)
            }
    }
}

extension MergeChange: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id, issuer, account, action, requiresCheck, changesCodesOfKey)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(
            Self.init(id:issuer:account:action:requiresCheck:changesCodesOfKey:), from: bytes)
    }
}

extension MergeChange.Action: Transferable {
    /// The first byte, which identifies the action.
    enum Kind: UInt8, CaseIterable, Transferable {
        case added, restored, restoredOlder, removed, replaced, kept, keptBoth, wiped, advanced
        case forked
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .added: output.append(Kind.added)
        case .restored: output.append(Kind.restored)
        case .restoredOlder(let older): output.append(Kind.restoredOlder, older)
        case .removed: output.append(Kind.removed)
        case .replaced(let parts): output.append(Kind.replaced, parts)
        case .kept: output.append(Kind.kept)
        case .keptBoth(let copy): output.append(Kind.keptBoth, copy)
        case .wiped: output.append(Kind.wiped)
        case .advanced: output.append(Kind.advanced)
        case .forked: output.append(Kind.forked)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .added: .added
            case .restored: .restored
            case .restoredOlder: try fields.make(Self.restoredOlder, from: bytes)
            case .removed: .removed
            case .replaced: try fields.make(Self.replaced, from: bytes)
            case .kept: .kept
            case .keptBoth: try fields.make(Self.keptBoth, from: bytes)
            case .wiped: .wiped
            case .advanced: .advanced
            case .forked: .forked
            }
    }
}

extension MergeOutline: Transferable {
    package func write(to output: FrameWriter) {
        output.append(changes, isIncluded, declinedWipes, unmerged, leftToHome, leftToOwner)
        output.append(oldEdits, takesOldEdits, keys, foreignSlots, alarms)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension EntryNames: Transferable {
    package func write(to output: FrameWriter) { output.append(issuer, account) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension EntryPart: Transferable {}
extension OlderSecret: Transferable {}
extension VaultKeyOrder: Transferable {}
