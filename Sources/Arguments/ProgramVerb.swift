/// Everything that a program can be told to do: an enumeration whose raw values are the words it is called by.
///
/// The parser, the help pages, the manual and the completions are made from it.
package protocol ProgramVerb: RawRepresentable<String>, CaseIterable, Hashable, Sendable
where AllCases == [Self] {
    /// What the program is called.
    static var program: String { get }
    /// The options that every verb takes.
    static var global: [Option] { get }
    /// What is said of the program itself.
    static var about: ProgramPage { get }
    /// What is said of this verb.
    var page: Page { get }
    /// Refuses what goes wrong in a way that only this program knows.
    static func check(_ arguments: ParsedArguments<Self>) throws(UsageError)
}

extension ProgramVerb {
    /// Refuses nothing.
    package static func check(_ arguments: ParsedArguments<Self>) throws(UsageError) {}

    /// The word or words it is called by.
    package var name: String { rawValue }

    /// Every option of every verb; the same name may be there twice, with and without a value.
    package static var allOptions: [Option] {
        var options = global
        for option in allCases.flatMap(\.page.options)
        where !options.contains(where: { $0 == option && $0.value == option.value }) {
            options.append(option)
        }
        return options
    }

    /// The verb that `words` begin with, and how many of them name it.
    static func named(by words: [String]) -> (verb: Self, used: Int)? {
        for used in [2, 1] where words.count >= used {
            if let verb = Self(rawValue: words.prefix(used).joined(separator: " ")) {
                // `"slot list"` as one word is none of ours.
                return words[0].contains(" ") ? nil : (verb, used)
            }
        }
        return nil
    }

    /// What to say of words that name no verb.
    static func unknown(_ word: String, following: String?) -> UsageError {
        let group = allCases.filter { $0.name.hasPrefix(word + " ") }
        guard !group.isEmpty else {
            let names = Set(allCases.map { String($0.name.prefix { $0 != " " }) }).sorted()
            return .unknownVerb(word, nearest: NearestName.of(word, among: names))
        }
        let names = group.map(\.name)
        guard let following else { return .needsOneOf(names) }
        let typed = word + " " + following
        return .unknownVerb(typed, nearest: NearestName.of(typed, among: names) ?? names.first)
    }
}
