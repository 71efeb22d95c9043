package import SecretVault

/// Entries to import, and what to do with those that the vault already has.
///
/// Two entries are the same if they have the same codes, that is, the same key and parameters;
/// names do not matter. If only the names are the same, the item may be a newer enrolment or
/// another account. It is refused unless the user chose otherwise, so that no key is lost
/// silently. The key of an entry that requires a check at each use is compared only after its check:
/// otherwise, an import would tell whether a guess is right.
package struct ImportEdit: Sendable {
    package let items: [ImportItem]
    package let choices: DuplicateChoices

    package init(_ items: [ImportItem], _ choices: DuplicateChoices) {
        self.items = items
        self.choices = choices
    }
}

/// An entry to import.
package struct ImportItem: Sendable {
    package let content: EntryContent
    package let details: EntryDetails
    /// What a backup states about the entry besides its content; `nil` for other files.
    package let origin: Origin?

    /// When the entry of a backup requires a presence check, and when it was added.
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
    /// An entry with the same codes exists, and the item has a greater counter, a new PIN or more
    /// details.
    case updated(EntryName, as: EntryName, [ImportUpdate], missing: [MissingDetail])
    /// The user chose to skip the item, because an entry with its name has another key.
    case declined(EntryName)
    case refused(ItemRefusal)
}

/// What an item adds to an entry that is already in the vault.
package enum ImportUpdate: Hashable, Sendable {
    case counter(from: UInt64, to: UInt64)
    /// The PIN of a code that is not computed.
    case pin
    /// Tags, the favourite mark, or a note or an icon where there was none.
    case details
}

/// A detail of an item that was not added to the entry in the vault.
package enum MissingDetail: UInt8, CaseIterable, Hashable, Sendable {
    /// The note: the entry in the vault has a different one.
    case note
    /// A tag: the entry in the vault has the maximum number of tags.
    case tag
}

/// Why an item was not imported.
package enum ItemRefusal: Hashable, Sendable {
    /// The vault already has the maximum number of entries with this key.
    case keyRepeatedTooOften
    /// An entry with the same name has another key.
    case nameTaken(EntryName)
    /// An entry with the same name requires a check at each use, so the keys were not compared.
    case notCompared(EntryName)
    /// The entry to replace requires confirmation at each use, and nobody confirmed it.
    case requiresCheckPerUse(EntryName)
    /// The name or the key is too long for the vault.
    case tooLong
}

extension EntryDetails {
    /// Returns these details, completed with those of an imported entry with the same key.
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

    /// Returns these details, completed with those of an imported entry that replaces this one; a
    /// different note is appended if both notes fit.
    package func adding(_ imported: EntryDetails) -> EntryDetails {
        var all = completed(by: imported)
        if hasOtherNote(than: imported),
            note.utf8.count + 1 + imported.note.utf8.count <= EntryDetails.longestNote
        {
            all.note = note + "\n" + imported.note
        }
        return all
    }

    /// Whether both have notes, and this note does not contain the imported note's lines.
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

    package init(_ content: EntryContent, details: EntryDetails, accessControl: AccessControl) {
        self.content = content
        self.details = details
        self.accessControl = accessControl
    }

    func add(to changes: inout VaultChanges, now: Int64) throws(VaultError) -> EditOutcome {
        let name = EntryName(issuer: content.issuer, account: content.account)
        guard !changes.isTaken(name, exceptBy: nil) else { return .refused(.nameTaken(name)) }
        let twin = try changes.entries(withSecretOf: content).first
        try changes.add(content, details: details, accessControl: accessControl, now: now)
        return .added(twin: try twin.map { id throws(VaultError) in try changes.entry(id).name })
    }
}

/// What to do with an item whose entry already exists.
package enum DuplicatePolicy: String, CaseIterable, Sendable { case skip, replace, keep }

/// What to do with the items of an import whose entries already exist.
package struct DuplicateChoices: Hashable, Sendable {
    /// The policy for names about which the user was not asked.
    package let policy: DuplicatePolicy
    package private(set) var answers: [EntryName: DuplicatePolicy] = [:]

    package init(_ policy: DuplicatePolicy) { self.policy = policy }

    /// Chooses what to do with the items that have this name.
    package mutating func choose(_ policy: DuplicatePolicy, for name: EntryName) {
        answers[name] = policy
    }

    /// Whether an item may replace an entry.
    package var mayReplace: Bool { policy == .replace || answers.values.contains(.replace) }

    func policy(for name: EntryName) -> DuplicatePolicy { answers[name] ?? policy }

    /// Whether the user chose to skip the items with this name.
    func isDeclined(_ name: EntryName) -> Bool { answers[name] == .skip }
}
