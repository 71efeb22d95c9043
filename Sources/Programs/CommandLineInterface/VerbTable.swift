/// The verbs of a program, each with an index.
///
/// The command-line reader uses this table, not the program's own verb type: generic code
/// instantiates its type metadata at run time, which takes longer than everything else here.
struct VerbTable {
    /// A verb's index, and the number of words in its name.
    struct Named {
        let place: Int
        let words: Int
    }

    let entries: [VerbEntry]
    /// The options that every verb accepts.
    let global: [Option]
    private let readHelp: () -> HelpDocument

    init(entries: [VerbEntry], global: [Option], readHelp: @escaping () -> HelpDocument) {
        self.entries = entries
        self.global = global
        self.readHelp = readHelp
    }

    /// The help of the program, read only when needed.
    var help: HelpDocument { readHelp() }

    /// The words on the command line for each verb.
    var names: [String] { entries.map(\.name) }

    /// All options of all verbs.
    ///
    /// A name can occur twice, with and without a value.
    var allOptions: [Option] {
        var options = global
        for entry in entries {
            for option in entry.options
            where !options.contains(where: { $0 == option && $0.value == option.value }) {
                options.append(option)
            }
        }
        return options
    }

    /// The verb that `words` begin with.
    func named(by words: [String]) -> Named? {
        // `"slot list"` as a single word is not a verb.
        guard let first = words.first, !first.utf8.contains(UInt8(ascii: " ")) else { return nil }
        if words.count > 1, let place = place(of: first + " " + words[1]) {
            return Named(place: place, words: 2)
        }
        return place(of: first).map { Named(place: $0, words: 1) }
    }

    private func place(of name: String) -> Int? {
        entries.firstIndex { $0.name == name }
    }

    /// The error for words that are not a verb.
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

/// The options that an argument can refer to while a command line is being read.
struct KnownOptions {
    let table: VerbTable
    /// The options to search first: the verb's own, once the verb is known.
    let preferred: [Option]
    /// Whether the last verb takes precedence if several verbs have an option with the same name.
    let isReversed: Bool

    func first(where isMeant: (Option) -> Bool) -> Option? {
        if let option = preferred.first(where: isMeant) { return option }
        // The global options come first anyway, and building the whole list is slow.
        if !isReversed, let option = table.global.first(where: isMeant) { return option }
        let all = table.allOptions
        return isReversed ? all.last(where: isMeant) : all.first(where: isMeant)
    }
}

/// The name, operands and options of a verb.
package struct VerbEntry: Sendable {
    /// The word or words on the command line.
    package let name: String
    package let operands: Operands
    // Lists are made on demand, because most runs need only one.
    private let makeOptions: @Sendable () -> [Option]

    package init(
        _ name: String, _ operands: Operands, options: @escaping @Sendable () -> [Option]
    ) {
        self.name = name
        self.operands = operands
        makeOptions = options
    }

    /// The options that the verb accepts in addition to the global ones.
    package var options: [Option] { makeOptions() }
}

/// A program's verb: an entry, and the function that runs it.
///
/// `allCases` is the table of all verbs. The parser, the help pages, the manual and the completions
/// are generated from it and from the program's documents.
package protocol ProgramVerb: CaseIterable, Sendable where AllCases == [Self] {
    static var program: String { get }
    /// The options that every verb accepts.
    static var global: [Option] { get }
    /// The text of the help pages and the manual.
    static var documents: ProgramDocuments { get }
    var entry: VerbEntry { get }
    /// Performs checks that are specific to this program.
    static func check(_ arguments: ParsedArguments) throws(UsageError)
}

extension ProgramVerb {
    /// The word or words on the command line.
    package var name: String { entry.name }

    /// All verbs, for reading the command line.
    static var table: VerbTable {
        VerbTable(entries: allCases.map { $0.entry }, global: global) { documents.help }
    }
}
