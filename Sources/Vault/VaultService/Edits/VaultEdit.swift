package import OneTimePassword
package import SecretVault
internal import WatchwordCoding
internal import WatchwordCryptography
package import WatchwordSystem

/// A change to a vault: a value that this process applies or sends to the agent.
package enum VaultEdit: Sendable {
    case add(NewEntry)
    case rename(RecordID, to: EntryName)
    /// Removes an entry; if `purge` is set, also from the previous generation.
    case remove(RecordID, purge: Bool)
    case revise(EntryRevision)
    case importing(ImportEdit)
}

/// The outcome of a ``VaultEdit``.
package enum EditOutcome: Hashable, Sendable {
    /// - Parameter twin: another entry with the same secret, unless it requires a check at each
    ///   use.
    /// - Parameter bound: how the entry was bound to this device; `nil` if it was not.
    case added(twin: EntryName?, bound: DeviceBinding?)
    case renamed
    case removed
    /// - Parameter bound: how the entry was bound to this device; `nil` if that was not requested.
    case revised(EntryName, RevisionWarnings, bound: DeviceBinding?)
    /// The outcome of each item, and the replaced entries that require a check at each use.
    case imported([ItemOutcome], replacedPerUse: [RecordID])
    /// The edit was refused, and nothing was changed.
    case refused(EditRefusal)
}

/// The reason why an edit was refused.
package enum EditRefusal: Hashable, Sendable {
    case emptyName
    /// Another entry already has the name.
    case nameTaken(EntryName)
    /// The entry has no such tag.
    case noSuchTag(EntryName, tag: String)
    /// The period is not valid for a time step.
    case period
    /// The new key is empty.
    case emptyKey
    /// The entry is too large for a key URI.
    case tooLong

    /// Converts the error about changed codes.
    ///
    /// The names and parameters come from a valid credential, so other errors cannot occur.
    init(_ error: OneTimePasswordError) {
        self =
            switch error {
            case .outOfRange: .period
            case .emptyKey: .emptyKey
            case .tooLong, .notBase32, .notHexadecimal, .oddDigitCount, .notStrict, .spaceAround,
                .parameter, .notAKeyURI, .unknownType, .doubled, .unknownAlgorithm,
                .unknownEncoder, .notANumber, .otherMovingFactor, .beforeStart:
                .tooLong
            }
    }
}

extension VaultEdit {
    /// Applies the edit within a save, so that no other program can take a name after the check.
    ///
    /// An edit is refused before its first change, because any change would be saved.
    ///
    /// - Parameters:
    ///   - confirmations: the presence checks that were made for the edit.
    ///   - now: Unix seconds.
    ///   - device: the key for ``binding``, which must be loaded.
    package func apply(
        to changes: inout VaultChanges, confirmedBy confirmations: Confirmations, now: Int64,
        bindingTo device: DeviceID? = nil
    ) throws(VaultError) -> EditOutcome {
        switch self {
        case .add(let entry): return try entry.add(to: &changes, now: now, bindingTo: device)
        case .rename(let id, let name):
            guard confirmations.cover(try changes.entry(id)) else { throw .presenceNeeded }
            guard !changes.isTaken(name, exceptBy: id) else { return .refused(.nameTaken(name)) }
            try changes.rename(id, issuer: name.issuer, account: name.account, now: now)
            return .renamed
        case .remove(let id, let purge):
            if try !confirmations.cover(changes.entry(id)) {
                // An entry that cannot be opened anywhere needs no check.
                guard case .damaged? = changes.refusal(of: id) else { throw .presenceNeeded }
            }
            try changes.remove(id, purge: purge)
            return .removed
        case .revise(let revision):
            return try revision.apply(
                to: &changes, confirmedBy: confirmations, now: now, bindingTo: device)
        case .importing(let edit):
            var plan = ImportPlan(
                edit.choices, confirmedBy: confirmations, of: changes, now: now)
            return try plan.apply(edit.items, to: &changes)
        }
    }

    /// The entry that the edit changes in a way that requires the same presence check as using it;
    /// for an import, a rehearsal reports the entries that it replaces.
    ///
    /// Removing an entry destroys its secret. A different name would mislead the person at the next
    /// check.
    package var confirmedEntry: RecordID? {
        switch self {
        case .add, .importing: nil
        case .rename(let id, _), .remove(let id, _): id
        case .revise(let revision): revision.requiresCheck ? revision.id : nil
        }
    }

    /// How the edit binds an entry to this device; `nil` if it does not.
    var binding: BindingChoice? {
        switch self {
        case .add(let entry): entry.binding
        case .revise(let revision): revision.binding?.choice
        case .rename, .remove, .importing: nil
        }
    }

    /// Whether the currently enrolled fingers are required from now on; `nil` changes nothing.
    var fingers: Bool? {
        switch self {
        case .add(let entry): entry.fingers ? true : nil
        case .revise(let revision): revision.fingers
        case .rename, .remove, .importing: nil
        }
    }

    /// Whether an outcome that another process sent is possible for this edit.
    package func accepts(_ outcome: EditOutcome) -> Bool {
        switch (self, outcome) {
        case (.add, .added), (.rename, .renamed), (.remove, .removed), (.revise, .revised): true
        case (.add, .refused), (.rename, .refused), (.revise, .refused): true
        case (.importing(let edit), .imported(let items, _)): items.count == edit.items.count
        default: false
        }
    }
}

extension VaultChanges {
    /// Whether an entry other than `id` has the name.
    func isTaken(_ name: EntryName, exceptBy id: RecordID?) -> Bool {
        entries.contains { $0.name == name && $0.id != id }
    }

    /// The error if an entry does not open; `nil` if it opens.
    func refusal(of id: RecordID) -> VaultError? {
        do {
            _ = try content(of: id)
            return nil
        } catch {
            return error
        }
    }
}

/// The presence checks that were made for an edit.
package struct Confirmations: Sendable {
    /// The entries whose checks succeeded.
    var entries: Set<RecordID> { Set(presences.keys) }

    private let presences: [RecordID: AccessControl.Presence]
    private let isAssumed: Bool

    /// Entries, each with the check that it required when presence was checked.
    package init(of entries: [(RecordID, AccessControl.Presence)]) {
        presences = Dictionary(entries, uniquingKeysWith: { $1 })
        isAssumed = false
    }

    private init(isAssumed: Bool) {
        presences = [:]
        self.isAssumed = isAssumed
    }

    /// Lets an import replace every entry; only for a rehearsal, which saves nothing and must
    /// reveal nothing about these entries.
    package static let assumed = Confirmations(isAssumed: true)

    /// Whether the checks permit a change of the entry, given its current access control.
    package func cover(_ entry: EntrySummary) -> Bool {
        !entry.requiresCheckPerUse || presences[entry.id] == entry.accessControl.presence
    }

    /// Whether an import may replace the entry.
    func permitReplacing(_ entry: EntrySummary) -> Bool { isAssumed || cover(entry) }
}

extension VaultEdit: Transferable {
    /// The kind of edit, in the first byte.
    enum Kind: UInt8, CaseIterable, Transferable {
        case add, rename, remove, revise, importing
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .add(let entry): output.append(Kind.add, entry)
        case .rename(let id, let name): output.append(Kind.rename, id, name)
        case .remove(let id, let purge): output.append(Kind.remove, id, purge)
        case .revise(let revision): output.append(Kind.revise, revision)
        case .importing(let edit): output.append(Kind.importing, edit)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .add: try fields.make(Self.add, from: bytes)
            case .rename: try fields.make(Self.rename, from: bytes)
            case .remove: try fields.make(Self.remove, from: bytes)
            case .revise: try fields.make(Self.revise, from: bytes)
            case .importing: try fields.make(Self.importing, from: bytes)
            }
    }
}

extension NewEntry: Transferable {
    package func write(to output: FrameWriter) {
        output.append(content, details, accessControl, binding, fingers)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension EntryRevision: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id, kind, issuer, account, details, codes, access, binding, fingers)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(
            Self.init(id:kind:issuer:account:details:codes:access:binding:fingers:), from: bytes)
    }
}

extension BindingChange: Transferable {
    package func write(to output: FrameWriter) { output.append(choice) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let choice: BindingChoice? = try fields.value(bytes)
        self = choice.map(BindingChange.bind) ?? .unbind
    }
}

extension DetailsChange: Transferable {
    package func write(to output: FrameWriter) {
        output.append(added, removed, note, icon, isFavourite)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            added: try fields.list(bytes, most: TransferLimits.parts),
            removed: try fields.list(bytes, most: TransferLimits.parts),
            note: try fields.value(bytes), icon: try fields.value(bytes),
            isFavourite: try fields.value(bytes))
    }
}

extension CodeChange: Transferable {
    package func write(to output: FrameWriter) {
        output.append(algorithm, length, period, counter, secret)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension CodeLength: Transferable {
    package func write(to output: FrameWriter) { output.append(digits) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(digits:), from: bytes)
    }
}

extension EditOutcome: Transferable {
    /// The first byte, which identifies the outcome.
    enum Kind: UInt8, CaseIterable, Transferable {
        case added, renamed, removed, revised, imported, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .added(let twin, let binding): output.append(Kind.added, twin, binding)
        case .renamed: output.append(Kind.renamed)
        case .removed: output.append(Kind.removed)
        case .revised(let name, let warnings, let binding):
            output.append(Kind.revised, name, warnings, binding)
        case .imported(let items, let replaced): output.append(Kind.imported, items, replaced)
        case .refused(let refusal): output.append(Kind.refused, refusal)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .added: try fields.make(Self.added, from: bytes)
            case .renamed: .renamed
            case .removed: .removed
            case .revised: try fields.make(Self.revised, from: bytes)
            case .imported: try fields.make(Self.imported, from: bytes)
            case .refused: try fields.make(Self.refused, from: bytes)
            }
    }
}

extension RevisionWarnings: Transferable {
    package func write(to output: FrameWriter) { output.append(movesBack, credential) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension EditRefusal: Transferable {
    /// The first byte, which identifies the refusal.
    enum Kind: UInt8, CaseIterable, Transferable {
        case emptyName, nameTaken, noSuchTag, period, emptyKey, tooLong
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .emptyName: output.append(Kind.emptyName)
        case .nameTaken(let name): output.append(Kind.nameTaken, name)
        case .noSuchTag(let name, let tag): output.append(Kind.noSuchTag, name, tag)
        case .period: output.append(Kind.period)
        case .emptyKey: output.append(Kind.emptyKey)
        case .tooLong: output.append(Kind.tooLong)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .emptyName: .emptyName
            case .nameTaken: try fields.make(Self.nameTaken, from: bytes)
            case .noSuchTag: try fields.make(Self.noSuchTag, from: bytes)
            case .period: .period
            case .emptyKey: .emptyKey
            case .tooLong: .tooLong
            }
    }
}

extension CredentialWarning: Transferable {
    /// The first byte, which identifies the warning.
    enum Kind: UInt8, CaseIterable, Transferable {
        case shortKey, digits, longPeriod
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .shortKey(let bits): output.append(Kind.shortKey, bits)
        case .digits(let digits): output.append(Kind.digits, digits)
        case .longPeriod(let seconds): output.append(Kind.longPeriod, seconds)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .shortKey: try fields.make(Self.shortKey, from: bytes)
            case .digits: try fields.make(Self.digits, from: bytes)
            case .longPeriod: try fields.make(Self.longPeriod, from: bytes)
            }
    }
}
