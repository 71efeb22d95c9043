/// Everything the program can be told to do.
enum Verb: String, CaseIterable, Hashable, Sendable {
    case initialize = "init"
    case add
    case importing = "import"
    case code
    case watch
    case list
    case show
    case edit
    case rename
    case remove
    case export
    case passphrase
    case slotList = "slot list"
    case slotAdd = "slot add"
    case slotRemove = "slot remove"
    case check
    case loginEnrol = "login enrol"
    case loginPresent = "login present"
    case loginStatus = "login status"
    case loginWipe = "login wipe"
    case totp
    case hotp
    case verify
    case qrRead = "qr read"
    case qrWrite = "qr write"
    case completions
    case manual

    /// The word or words it is called by.
    var name: String { rawValue }

    /// Every option of every verb; the same name may be there twice, with and without a value.
    static let allOptions: [Option] = {
        var options = Option.global
        for option in allCases.flatMap(\.page.options)
        where !options.contains(where: { $0 == option && $0.value == option.value }) {
            options.append(option)
        }
        return options
    }()

    /// The verb that `words` begin with, and how many of them name it.
    static func named(by words: [String]) -> (verb: Verb, used: Int)? {
        for used in [2, 1] where words.count >= used {
            if let verb = Verb(rawValue: words.prefix(used).joined(separator: " ")) {
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
