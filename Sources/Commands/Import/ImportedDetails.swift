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
    /// These details with those of an imported entry, which replaces this one.
    ///
    /// The owner's own details are kept; an imported detail that does not fit is left out.
    func adding(_ imported: EntryDetails) -> EntryDetails {
        var all = self
        for tag in imported.tags where !all.tags.contains(tag) {
            guard all.tags.count < EntryDetails.mostTags else { break }
            all.tags.append(tag)
        }
        let lines = note.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        if note.isEmpty {
            all.note = imported.note
        } else if !imported.note.isEmpty, note != imported.note,
            !lines.contains(Substring(imported.note)),
            note.utf8.count + 1 + imported.note.utf8.count <= EntryDetails.longestNote
        {
            all.note = note + "\n" + imported.note
        }
        if icon.isEmpty { all.icon = imported.icon }
        all.isFavourite = isFavourite || imported.isFavourite
        return all
    }
}
