/// The verbs of a program, each in its place.
///
/// The command line is read by this rather than by the program's own type of verbs: what is generic is made
/// ready while the program runs, which takes it longer than all the rest.
struct VerbTable {
    /// A verb, and how many words name it.
    struct Named {
        let place: Int
        let words: Int
    }

    /// The word or words that each is called by.
    let names: [String]
    /// The options that every verb takes.
    let global: [Option]
    /// What is said of the verb at a place.
    let page: (Int) -> Page

    /// Every option of every verb; the same name may be there twice, with and without a value.
    var allOptions: [Option] {
        var options = global
        for place in names.indices {
            for option in page(place).options
            where !options.contains(where: { $0 == option && $0.value == option.value }) {
                options.append(option)
            }
        }
        return options
    }

    /// The verb that `words` begin with.
    func named(by words: [String]) -> Named? {
        // `"slot list"` as one word is none of ours.
        guard let first = words.first, !first.utf8.contains(UInt8(ascii: " ")) else { return nil }
        if words.count > 1, let place = names.firstIndex(of: first + " " + words[1]) {
            return Named(place: place, words: 2)
        }
        return names.firstIndex(of: first).map { Named(place: $0, words: 1) }
    }

    /// What to say of words that name no verb.
    func unknown(_ word: String, following: String?) -> UsageError {
        let group = names.filter { $0.hasPrefix(word + " ") }
        guard !group.isEmpty else {
            let firstWords = Set(names.map { String($0.prefix { $0 != " " }) }).sorted()
            return .unknownVerb(word, nearest: NearestName.of(word, among: firstWords))
        }
        guard let following else { return .needsOneOf(group) }
        let typed = word + " " + following
        return .unknownVerb(typed, nearest: NearestName.of(typed, among: group) ?? group.first)
    }
}

/// What options may mean while a command line is read.
struct KnownOptions {
    let table: VerbTable
    /// What comes before all others: the verb's own, once it is known.
    let preferred: [Option]
    /// Whether of two verbs' options the last one counts.
    let isReversed: Bool

    /// The first option that is meant.
    func first(where isMeant: (Option) -> Bool) -> Option? {
        if let option = preferred.first(where: isMeant) { return option }
        // They are the first of all, and putting the whole list together takes long.
        if !isReversed, let option = table.global.first(where: isMeant) { return option }
        let all = table.allOptions
        return isReversed ? all.last(where: isMeant) : all.first(where: isMeant)
    }
}
