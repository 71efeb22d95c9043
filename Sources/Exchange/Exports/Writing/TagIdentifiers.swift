internal import WatchwordCryptography

/// The tags of all entries, each with a random identifier.
struct TagIdentifiers {
    /// The tags in the order of their first use.
    let tags: [String]
    private let identifiers: [String: String]

    init(_ lists: [[String]]) {
        var tags: [String] = []
        var identifiers: [String: String] = [:]
        for tag in lists.joined() where identifiers[tag] == nil {
            tags.append(tag)
            identifiers[tag] = makeUniqueIdentifier()
        }
        self.tags = tags
        self.identifiers = identifiers
    }

    /// The identifier of one of the tags.
    subscript(tag: String) -> String { identifiers[tag] ?? "" }
}
