import Interchange
import OneTimePassword
import SecretVault

/// The details of an entry of another app's export, as far as the vault can store them.
///
/// A detail that is too long is left out with a warning, because the key is more important.
struct ImportedDetails {
    private(set) var details = EntryDetails()
    private(set) var warnings: [ImportWarning] = []

    init(_ entry: ExportedEntry) {
        details.isFavourite = entry.isFavourite
        if entry.note.utf8.count <= EntryDetails.longestNote {
            details.note = entry.note
        } else {
            warnings.append(.leftOut(.note))
        }
        if entry.icon.utf8.count <= EntryDetails.longestIcon {
            details.icon = entry.icon
        } else {
            warnings.append(.leftOut(.icon))
        }
        for tag in entry.tags.map(\.trimmed) where !tag.isEmpty && !details.tags.contains(tag) {
            if tag.utf8.count <= EntryDetails.longestTag, details.tags.count < EntryDetails.mostTags
            {
                details.tags.append(tag)
            } else {
                warnings.append(.leftOut(.tag))
            }
        }
    }
}

extension EntryDetails {
    /// These details, completed by those of an imported entry with the same key.
    ///
    /// The owner's own details are kept; an imported detail that does not fit is left out.
    func completed(by imported: EntryDetails) -> EntryDetails {
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

    /// These details with those of an imported entry that replaces this one: completed, and with both
    /// notes.
    func adding(_ imported: EntryDetails) -> EntryDetails {
        var all = completed(by: imported)
        if hasOtherNote(than: imported),
            note.utf8.count + 1 + imported.note.utf8.count <= EntryDetails.longestNote
        {
            all.note = note + "\n" + imported.note
        }
        return all
    }

    /// Whether both have notes, and the lines of the imported one are not in this one.
    func hasOtherNote(than imported: EntryDetails) -> Bool {
        func lines(_ text: String) -> [Substring] {
            text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        }
        return !note.isEmpty && !imported.note.isEmpty
            && !lines(note).contains(lines(imported.note))
    }
}
