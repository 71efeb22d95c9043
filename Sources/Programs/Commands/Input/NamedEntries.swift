import CommandLineInterface
import SecretVault
import VaultService

extension [EntrySummary] {
    /// The only entry that matches `typed`.
    ///
    /// It is also the only one in a part of the entries that contains it, so that the agent need not
    /// send all of them.
    func one(named typed: String) throws -> EntrySummary {
        guard !EntryName.isBlank(typed) else { throw UsageError.emptyName }
        let found = matches(of: typed)
        guard let first = found.first else {
            throw CommandFailure.noSuchEntry(VisibleText.of(typed))
        }
        guard found.count == 1 else {
            let lookAlikes = found.lookAlikes
            let ids = ShortIDs(self)
            throw CommandFailure.ambiguousName(
                VisibleText.of(typed),
                found.map {
                    let needsID = lookAlikes.contains($0.id) || $0.name.isTruncatedInTable
                    return $0.name.fittedToTable + (needsID ? "  (\(ids[$0.id]))" : "")
                })
        }
        return first
    }

    /// The only entry that matches `typed`, for a change of it.
    ///
    /// - Parameter asks: whether a person decides. Otherwise, `typed` must be the whole name, issuer,
    ///   account or id: words in a name or a note may be those of another entry than was meant, for
    ///   instance because that one was already removed.
    func one(toChange typed: String, asks: Bool) throws -> EntrySummary {
        let entry = try one(named: typed)
        guard asks || entry.isNamed(typed) else {
            throw CommandFailure.partOfName(VisibleText.of(typed), entry.name.visible)
        }
        return entry
    }

    /// The entries whose names, tags and notes contain the words of `typed`.
    func holding(_ typed: String) -> [EntrySummary] { filter(EntrySearch(typed).matches) }

    /// The entries with all of these tags, ignoring case and accents.
    func tagged(_ tags: [String]) -> [EntrySummary] {
        let wanted = tags.map { FoldedText($0) }
        guard !wanted.isEmpty else { return self }
        return filter { entry in
            let own = entry.details.tags.map { FoldedText($0) }
            return wanted.allSatisfy(own.contains)
        }
    }
}

/// The beginnings of entries' ids, which can be typed instead of a name: at least eight characters,
/// and more if the ids of two entries share their first eight.
struct ShortIDs {
    private let texts: [RecordID: String]
    private static let shortest = 8

    init(_ entries: [EntrySummary]) {
        let sorted = entries.map { (id: $0.id, text: $0.id.text) }.sorted { $0.text < $1.text }
        var texts: [RecordID: String] = [:]
        for (place, entry) in sorted.enumerated() {
            var length = ShortIDs.shortest
            for other in [place - 1, place + 1] where sorted.indices.contains(other) {
                let common = zip(entry.text, sorted[other].text).prefix { $0 == $1 }.count
                length = max(length, common + 1)
            }
            texts[entry.id] = String(entry.text.prefix(length))
        }
        self.texts = texts
    }

    subscript(id: RecordID) -> String { texts[id] ?? id.text }
}
