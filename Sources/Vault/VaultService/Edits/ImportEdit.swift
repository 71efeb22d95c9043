package import SecretVault
package import WatchwordSystem

/// Entries to import, and the treatment of entries that the vault already has.
///
/// Two entries are the same if they have the same codes, that is, the same key and parameters;
/// names do not matter. If only the names are the same, the item may be a newer enrolment or a
/// different account. The item is refused unless the user chose otherwise, so that no key is lost
/// silently. The key of an entry that requires a check at each use is compared only after its
/// check: otherwise, an import would reveal whether a guess is right.
package struct ImportEdit: Sendable {
    package let items: [ImportItem]
    package let choices: DuplicateChoices

    package init(_ items: [ImportItem], _ choices: DuplicateChoices) {
        self.items = items
        self.choices = choices
    }
}

/// An entry to import, with its details.
package struct ImportItem: Sendable {
    package let content: EntryContent
    package let details: EntryDetails
    /// The properties that a backup contains besides the content; `nil` for other files.
    package let origin: Origin?

    /// The access control of an entry in a backup, and when the entry was added.
    package struct Origin: Hashable, Sendable {
        package let accessControl: AccessControl
        package let created: Int64

        package init(accessControl: AccessControl, created: Int64) {
            self.accessControl = accessControl
            self.created = created
        }
    }

    package init(_ content: EntryContent, details: EntryDetails, origin: Origin?) {
        self.content = content
        self.details = details
        self.origin = origin
    }
}

/// The outcome of importing an item.
package enum ItemOutcome: Hashable, Sendable {
    case added(EntryName)
    case replaced(EntryName)
    /// An entry with the same codes exists.
    case present(EntryName, as: EntryName, missing: [MissingDetail])
    /// An entry with the same codes exists, and was updated with the item's greater counter, new
    /// PIN or further details.
    case updated(EntryName, as: EntryName, [ImportUpdate], missing: [MissingDetail])
    /// The user chose to skip the item, because an entry with its name has a different key.
    case declined(EntryName)
    case refused(ItemRefusal)
}

/// A part of an item that is added to an entry that is already in the vault.
package enum ImportUpdate: Hashable, Sendable {
    case counter(from: UInt64, to: UInt64)
    /// The PIN of an entry whose codes are not computed.
    case pin
    /// Tags, the favourite mark, or a note or an icon if the entry had none.
    case details
}

/// A detail of an item that was not added to the entry in the vault.
package enum MissingDetail: UInt8, CaseIterable, Hashable, Sendable {
    /// The note: the entry in the vault has a different one.
    case note
    /// A tag: the entry in the vault has the maximum number of tags.
    case tag
}

/// The reason why an item was not imported.
package enum ItemRefusal: Hashable, Sendable {
    /// The vault already has the maximum number of entries with this key.
    case keyRepeatedTooOften
    /// An entry with the same name has a different key.
    case nameTaken(EntryName)
    /// An entry with the same name requires a check at each use, so the keys were not compared.
    case notCompared(EntryName)
    /// The entry to replace requires a check at each use, and no check was made.
    case requiresCheckPerUse(EntryName)
    /// The name or the key is too long for the vault.
    case tooLong
    /// The entry to replace opens only on a different device.
    case boundElsewhere(EntryName)
}

extension EntryDetails {
    /// These details, completed with the details of an imported entry with the same key.
    ///
    /// Existing details are kept, and nothing is added beyond the maximum number of tags.
    package func completed(by imported: EntryDetails) -> EntryDetails {
        var all = self
        for tag in imported.tags where !all.tags.contains(tag) {
            guard all.tags.count < EntryDetails.mostTags else { break }
            all.tags.append(tag)
        }
        if note.isEmpty { all.note = imported.note }
        if icon.isEmpty { all.icon = imported.icon }
        all.isFavourite = isFavourite || imported.isFavourite
        return all
    }

    /// These details, completed with the details of an imported entry that replaces this one.
    ///
    /// A different note is appended if both notes fit.
    package func adding(_ imported: EntryDetails) -> EntryDetails {
        var all = completed(by: imported)
        if hasOtherNote(than: imported),
            note.utf8.count + 1 + imported.note.utf8.count <= EntryDetails.longestNote
        {
            all.note = note + "\n" + imported.note
        }
        return all
    }

    /// Whether both have a note, and this note does not contain the lines of the imported one.
    package func hasOtherNote(than imported: EntryDetails) -> Bool {
        func lines(_ text: String) -> [Substring] {
            text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        }
        return !note.isEmpty && !imported.note.isEmpty
            && !lines(note).contains(lines(imported.note))
    }
}

/// An entry to add, unless its name is taken.
package struct NewEntry: Sendable {
    package let content: EntryContent
    package let details: EntryDetails
    package let accessControl: AccessControl
    /// How the entry is bound to this device; `nil` leaves it unbound.
    package let binding: BindingChoice?
    /// Whether the currently enrolled fingers are required from now on.
    package let fingers: Bool

    package init(
        _ content: EntryContent, details: EntryDetails, accessControl: AccessControl,
        binding: BindingChoice? = nil, fingers: Bool = false
    ) {
        self.content = content
        self.details = details
        self.accessControl = accessControl
        self.binding = binding
        self.fingers = fingers
    }

    func add(
        to changes: inout VaultChanges, now: Int64, bindingTo device: DeviceID?
    ) throws(VaultError) -> EditOutcome {
        let name = EntryName(issuer: content.issuer, account: content.account)
        guard !changes.isTaken(name, exceptBy: nil) else { return .refused(.nameTaken(name)) }
        let twin = try changes.entries(withSecretOf: content).first
        let id = try changes.add(
            content, details: details, accessControl: accessControl, boundTo: device, now: now)
        return .added(
            twin: try twin.map { id throws(VaultError) in try changes.entry(id).name },
            bound: try changes.entry(id).binding?.binding)
    }
}

/// The treatment of an item whose entry already exists.
package enum DuplicatePolicy: String, CaseIterable, Sendable { case skip, replace, keep }

/// The treatment of the items of an import whose entries already exist.
package struct DuplicateChoices: Hashable, Sendable {
    /// The policy for all names about which the user was not asked.
    package let policy: DuplicatePolicy
    package private(set) var answers: [EntryName: DuplicatePolicy] = [:]

    package init(_ policy: DuplicatePolicy) { self.policy = policy }

    /// Chooses what to do with the items that have this name.
    package mutating func choose(_ policy: DuplicatePolicy, for name: EntryName) {
        answers[name] = policy
    }

    /// Whether any item may replace an entry.
    package var mayReplace: Bool { policy == .replace || answers.values.contains(.replace) }

    func policy(for name: EntryName) -> DuplicatePolicy { answers[name] ?? policy }

    /// Whether the user chose to skip the items with this name.
    func isDeclined(_ name: EntryName) -> Bool { answers[name] == .skip }
}

extension ImportEdit: Transferable {
    package func write(to output: FrameWriter) { output.append(choices, items) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let choices: DuplicateChoices = try fields.value(bytes)
        self.init(try fields.list(bytes, most: TransferLimits.entries), choices)
    }
}

extension DuplicateChoices: Transferable {
    package func write(to output: FrameWriter) {
        output.append(policy, answers.map(Answer.init).sorted { $0.name.text < $1.name.text })
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(try fields.value(bytes))
        let answers: [Answer] = try fields.list(bytes, most: TransferLimits.entries)
        var last: String?
        for answer in answers {
            // The names are in strictly ascending order, so that none occurs twice.
            guard last.map({ $0 < answer.name.text }) ?? true else { throw Unreadable() }
            choose(answer.policy, for: answer.name)
            last = answer.name.text
        }
    }

    fileprivate struct Answer {
        let name: EntryName
        let policy: DuplicatePolicy
    }
}

extension DuplicateChoices.Answer: Transferable {
    func write(to output: FrameWriter) { output.append(name, policy) }

    init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension DuplicatePolicy: Transferable {}

extension ImportItem: Transferable {
    package func write(to output: FrameWriter) { output.append(content, details, origin) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension ImportItem.Origin: Transferable {
    package func write(to output: FrameWriter) { output.append(accessControl, created) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension ItemOutcome: Transferable {
    /// The first byte, which identifies the outcome.
    enum Kind: UInt8, CaseIterable, Transferable {
        case added, replaced, present, updated, declined, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .added(let name): output.append(Kind.added, name)
        case .replaced(let name): output.append(Kind.replaced, name)
        case .present(let name, let twin, let missing):
            output.append(Kind.present, name, twin, missing)
        case .updated(let name, let twin, let updates, let missing):
            output.append(Kind.updated, name, twin, updates, missing)
        case .declined(let name): output.append(Kind.declined, name)
        case .refused(let refusal): output.append(Kind.refused, refusal)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .added: try fields.make(Self.added, from: bytes)
            case .replaced: try fields.make(Self.replaced, from: bytes)
            case .present: try fields.make(Self.present, from: bytes)
            case .updated: try fields.make(Self.updated, from: bytes)
            case .declined: try fields.make(Self.declined, from: bytes)
            case .refused: try fields.make(Self.refused, from: bytes)
            }
    }
}

extension ImportUpdate: Transferable {
    /// The first byte, which identifies the update.
    enum Kind: UInt8, CaseIterable, Transferable {
        case counter, pin, details
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .counter(let old, let new): output.append(Kind.counter, old, new)
        case .pin: output.append(Kind.pin)
        case .details: output.append(Kind.details)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .counter: try fields.make(Self.counter, from: bytes)
            case .pin: .pin
            case .details: .details
            }
    }
}

extension MissingDetail: Transferable {}

extension ItemRefusal: Transferable {
    /// The first byte, which identifies the refusal.
    enum Kind: UInt8, CaseIterable, Transferable {
        case keyRepeatedTooOften, nameTaken, requiresCheckPerUse, tooLong, notCompared
        case boundElsewhere
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .keyRepeatedTooOften: output.append(Kind.keyRepeatedTooOften)
        case .nameTaken(let name): output.append(Kind.nameTaken, name)
        case .requiresCheckPerUse(let name): output.append(Kind.requiresCheckPerUse, name)
        case .tooLong: output.append(Kind.tooLong)
        case .notCompared(let name): output.append(Kind.notCompared, name)
        case .boundElsewhere(let name): output.append(Kind.boundElsewhere, name)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .keyRepeatedTooOften: .keyRepeatedTooOften
            case .nameTaken: try fields.make(Self.nameTaken, from: bytes)
            case .requiresCheckPerUse: try fields.make(Self.requiresCheckPerUse, from: bytes)
            case .tooLong: .tooLong
            case .notCompared: try fields.make(Self.notCompared, from: bytes)
            case .boundElsewhere: try fields.make(Self.boundElsewhere, from: bytes)
            }
    }
}
