import Arguments
import SecretVault

/// The words that a user typed to find entries, in any order.
struct EntrySearch {
    private let words: [FoldedText]

    init(_ typed: String) {
        words = typed.split(whereSeparator: \.isWhitespace).map { FoldedText(String($0)) }
    }

    /// Whether the entry's name contains every word.
    func matchesName(of entry: EntrySummary) -> Bool {
        let name = FoldedText(entry.name.text)
        return words.allSatisfy(name.contains)
    }

    /// Whether each word is in the entry's name, in a tag or in the note.
    func matches(_ entry: EntrySummary) -> Bool {
        let details = entry.details
        let texts = ([entry.name.text, details.note] + details.tags).map { FoldedText($0) }
        return words.allSatisfy { word in texts.contains { $0.contains(word) } }
    }
}

extension [EntrySummary] {
    /// The only entry that matches `typed`.
    ///
    /// These rules are tried in order; the first one that finds an entry decides. `typed` is the
    /// full name or the id; the account; the name or the account, ignoring case and accents; words
    /// of the name; words of the name, the tags and the note; the beginning of the id, at least
    /// eight characters.
    func one(named typed: String) throws(CommandFailure) -> EntrySummary {
        guard !EntryName.isBlank(typed) else { throw .usage(.emptyName) }
        let found = matches(of: typed)
        guard let first = found.first else { throw .noSuchEntry(VisibleText.of(typed)) }
        guard found.count == 1 else {
            let lookAlikes = found.lookAlikes
            let ids = ShortIDs(self)
            throw .ambiguousName(
                VisibleText.of(typed),
                found.map {
                    let needsID = lookAlikes.contains($0.id) || $0.name.isTruncatedInTable
                    return $0.name.fittedToTable + (needsID ? "  (\(ids[$0.id]))" : "")
                })
        }
        return first
    }

    /// The entries that match `typed` best.
    private func matches(of typed: String) -> [EntrySummary] {
        let folded = FoldedText(typed)
        let search = EntrySearch(typed)
        let rules: [(EntrySummary) -> Bool] = [
            {
                $0.name.text == typed
                    || typed.utf8.count == RecordID.textCount && $0.id.text == typed
            },
            { $0.account == typed },
            { FoldedText($0.name.text) == folded || FoldedText($0.account) == folded },
            search.matchesName,
            search.matches,
            // Eight or more characters are unlikely to match an id by chance.
            { typed.utf8.count >= 8 && $0.id.text.hasPrefix(typed.lowercased()) },
        ]
        for rule in rules {
            let found = filter(rule)
            if !found.isEmpty { return found }
        }
        return []
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
