import CommandLineInterface
import SecretVault
import VaultService

extension [EntrySummary] {
    /// The only entry that matches `typed`.
    ///
    /// A part of the entries gives the same result if it contains this entry, so the agent need not
    /// send all entries.
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

    /// The only entry that matches `typed`, for a command that changes it.
    ///
    /// - Parameter asks: whether a person decides. Otherwise, `typed` must be the whole name,
    ///   issuer, account or id: words in a name or a note may match a different entry, for example
    ///   after the intended entry was removed.
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

    /// The different tags, sorted; of those that differ only in case and accents, the first.
    var tags: [String] {
        var seen: Set<FoldedText> = []
        let all = flatMap(\.details.tags).map { (text: $0, folded: FoldedText($0)) }
        return all.filter { seen.insert($0.folded).inserted }
            .sorted { $0.folded < $1.folded }.map(\.text)
    }

    /// Throws the error for an empty list, which names the entry or the tags that do not match.
    func explainMissing(_ name: String?, _ tags: [String]) throws {
        if let name, tags.isEmpty || holding(name).isEmpty {
            throw CommandFailure.noSuchEntry(VisibleText.of(name))
        }
        if let missing = tags.first(where: { tagged([$0]).isEmpty }) {
            throw CommandFailure.noSuchTag(
                VisibleText.of(missing), known: self.tags.map { VisibleText.of($0) })
        }
        guard !tags.isEmpty else { return }
        throw CommandFailure.noTaggedEntry(
            tags.map { VisibleText.of($0) }, name: name.map { VisibleText.of($0) })
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

/// The order of a list of entries.
enum EntryOrder: String {
    /// By issuer and account; entries without an issuer by account.
    case name
    case added
    /// The most recently used on this machine first; unused entries follow by name.
    case used
}

extension Session {
    /// The order of `--sort`; `nil` if the option was not given.
    func givenOrder() throws -> EntryOrder? {
        let word = try arguments.choice(.sort)
        return word.flatMap(EntryOrder.init(rawValue:))
    }
}

extension [EntrySummary] {
    /// The entries in the given order; entries that compare equal stay in the order in which they
    /// were added.
    ///
    /// - Parameter uses: when entries were last used.
    func sorted(by order: EntryOrder, uses: @autoclosure () -> [RecordID: Int64] = [:])
        -> [EntrySummary]
    {
        switch order {
        case .added: return self
        case .name:
            let keys = map { entry in
                entry.issuer.isEmpty
                    ? [FoldedText(entry.account)]
                    : [FoldedText(entry.issuer), FoldedText(entry.account)]
            }
            return indices.sorted { left, right in
                if keys[left] == keys[right] { return left < right }
                return keys[left].lexicographicallyPrecedes(keys[right])
            }.map { self[$0] }
        case .used:
            let times = uses()
            let named = sorted(by: .name)
            let keys = named.map { times[$0.id] ?? .min }
            return named.indices.sorted { left, right in
                keys[left] == keys[right] ? left < right : keys[left] > keys[right]
            }.map { named[$0] }
        }
    }
}
