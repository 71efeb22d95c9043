package import SecretVault

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
