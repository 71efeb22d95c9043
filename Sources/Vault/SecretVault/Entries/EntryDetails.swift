internal import OneTimePassword

/// An entry's tags, note, icon and favourite mark.
public struct EntryDetails: Hashable, Sendable {
    /// Tags, in the owner's order; none is empty or occurs twice.
    public var tags: [String]
    /// A note; may be empty.
    public var note: String
    /// The name of an icon, as another app wrote it; may be empty.
    public var icon: String
    /// Whether the entry is marked as a favourite.
    public var isFavourite: Bool

    /// Creates details; the vault refuses invalid ones.
    public init(
        tags: [String] = [], note: String = "", icon: String = "", isFavourite: Bool = false
    ) {
        self.tags = tags
        self.note = note
        self.icon = icon
        self.isFavourite = isFavourite
    }
}

extension EntryDetails {
    /// The maximum number of tags.
    public static var mostTags: Int { VaultLimits.tags }
    /// The maximum size of a tag in bytes.
    public static var longestTag: Int { VaultLimits.tagSize }
    /// The maximum size of a note in bytes.
    public static var longestNote: Int { VaultLimits.noteSize }
    /// The maximum size of an icon's name in bytes.
    public static var longestIcon: Int { VaultLimits.iconSize }

    /// Refuses what the format does not allow.
    ///
    /// - Throws: ``VaultError/overLimit(_:)``, ``VaultError/invalidTag``.
    func check() throws(VaultError) {
        guard tags.count <= VaultLimits.tags else { throw .overLimit(.tags) }
        guard tags.allSatisfy({ $0.utf8.count <= VaultLimits.tagSize }) else {
            throw .overLimit(.tag)
        }
        guard note.utf8.count <= VaultLimits.noteSize else { throw .overLimit(.note) }
        guard icon.utf8.count <= VaultLimits.iconSize else { throw .overLimit(.icon) }
        guard tags.allSatisfy({ !$0.isEmpty && !$0.hasSpaceAround }),
            Set(tags.map { Array($0.utf8) }).count == tags.count
        else { throw .invalidTag }
    }
}
