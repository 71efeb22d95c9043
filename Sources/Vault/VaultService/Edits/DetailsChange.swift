package import SecretVault

/// Changes of an entry's tags, note, icon and favourite mark.
package struct DetailsChange: Hashable, Sendable {
    package let added: [String]
    package let removed: [String]
    /// The new note; `nil` keeps the note.
    package let note: String?
    /// The new name of the icon; `nil` keeps the name.
    package let icon: String?
    /// Whether the entry becomes a favourite; `nil` keeps the mark.
    package let isFavourite: Bool?

    package init(
        added: [String] = [], removed: [String] = [], note: String? = nil, icon: String? = nil,
        isFavourite: Bool? = nil
    ) {
        self.added = added
        self.removed = removed
        self.note = note
        self.icon = icon
        self.isFavourite = isFavourite
    }

    /// `details` with the changes.
    ///
    /// A tag to remove may differ in case.
    package func applied(to details: EntryDetails, of name: EntryName) throws(EditRefusal)
        -> EntryDetails
    {
        var details = details
        for tag in removed {
            let place =
                details.tags.firstIndex(of: tag)
                ?? details.tags.firstIndex { $0.lowercased() == tag.lowercased() }
            guard let place else { throw .noSuchTag(name, tag: tag) }
            details.tags.remove(at: place)
        }
        for tag in added where !details.tags.contains(tag) { details.tags.append(tag) }
        if let note { details.note = note }
        if let icon { details.icon = icon }
        if let isFavourite { details.isFavourite = isFavourite }
        return details
    }
}
