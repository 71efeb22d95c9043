import Exports
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
