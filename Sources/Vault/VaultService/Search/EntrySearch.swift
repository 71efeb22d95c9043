package import SecretVault

/// The words that a user typed to find entries, in any order.
package struct EntrySearch {
    private let words: [FoldedWord]
    /// The maximum number of words; a search with more words finds nothing, because each word takes
    /// time.
    private static let mostWords = 32

    package init(_ typed: String) {
        words = typed.split(whereSeparator: \.isWhitespace).map { FoldedWord(String($0)) }
    }

    /// Whether the entry's name contains every word.
    package func matchesName(of entry: EntrySummary) -> Bool {
        let name = FoldedText(entry.name.text)
        return isEach(name.contains)
    }

    /// Whether each word is in the entry's name, in a tag or in the note.
    package func matches(_ entry: EntrySummary) -> Bool {
        let details = entry.details
        let texts = ([entry.name.text, details.note] + details.tags).map { FoldedText($0) }
        return isEach { word in texts.contains { $0.contains(word) } }
    }

    private func isEach(_ isFound: (FoldedWord) -> Bool) -> Bool {
        words.count <= EntrySearch.mostWords && words.allSatisfy(isFound)
    }
}

extension EntrySummary {
    /// Whether `typed` is the full name, issuer, account or ID of this entry.
    ///
    /// Case and accents are ignored, and the first eight characters of the ID are enough.
    package func isNamed(_ typed: String) -> Bool {
        let folded = FoldedText(typed)
        return [name.text, issuer, account].contains(where: folded.isEqual)
            || hasID(beginning: typed)
    }

    // Eight or more characters are unlikely to match an ID by chance.
    fileprivate func hasID(beginning typed: String) -> Bool {
        typed.utf8.count >= 8 && id.text.hasPrefix(typed.lowercased())
    }
}

extension [EntrySummary] {
    /// The entries that match `typed` best.
    ///
    /// These rules are tried in order; the first one that finds an entry decides. `typed` is the
    /// full name or the ID; the account; the name or the account, ignoring case and accents; words
    /// of the name; words of the name, the tags and the note; the beginning of the ID, at least
    /// eight characters.
    ///
    /// - Parameter isWanted: whether to continue the search.
    package func matches(
        of typed: String, while isWanted: () -> Bool = { true }
    ) -> [EntrySummary] {
        let folded = FoldedText(typed)
        let search = EntrySearch(typed)
        let rules: [(EntrySummary) -> Bool] = [
            {
                $0.name.text == typed
                    || typed.utf8.count == RecordID.textCount && $0.id.text == typed
            },
            { $0.account == typed },
            {
                folded.isEqual(toFolded: $0.name.text) || folded.isEqual(toFolded: $0.account)
            },
            search.matchesName,
            search.matches,
            { $0.hasID(beginning: typed) },
        ]
        for rule in rules {
            var found: [EntrySummary] = []
            // A call before each entry would take longer than the search.
            for start in stride(from: 0, to: count, by: 16) where isWanted() {
                found += self[start..<Swift.min(start + 16, count)].filter(rule)
            }
            if !found.isEmpty { return found }
        }
        return []
    }
}
