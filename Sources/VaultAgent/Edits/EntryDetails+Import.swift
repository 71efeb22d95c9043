package import SecretVault

extension EntryDetails {
    /// These details, completed by those of an imported entry with the same key.
    ///
    /// Everything of the owner stays; what does not fit is not added.
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

    /// These details with those of an imported entry that replaces this one: completed, and with both
    /// notes.
    package func adding(_ imported: EntryDetails) -> EntryDetails {
        var all = completed(by: imported)
        if hasOtherNote(than: imported),
            note.utf8.count + 1 + imported.note.utf8.count <= EntryDetails.longestNote
        {
            all.note = note + "\n" + imported.note
        }
        return all
    }

    /// Whether both have notes, and the lines of the imported one are not in this one.
    package func hasOtherNote(than imported: EntryDetails) -> Bool {
        func lines(_ text: String) -> [Substring] {
            text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        }
        return !note.isEmpty && !imported.note.isEmpty
            && !lines(note).contains(lines(imported.note))
    }
}
