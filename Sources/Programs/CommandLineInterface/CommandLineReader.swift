/// Reads a command line according to the GNU conventions: options anywhere, `--name value`,
/// `--name=value`, `-q`, and `--` before operands that begin with a dash.
struct CommandLineReader {
    /// The result of reading a command line; verbs are identified by their index in the table.
    enum Reading {
        case run(Int, ParsedArguments)
        case version
        case help(Int?)
    }

    /// One option as written on the command line.
    struct Spoken {
        let spelling: String
        let option: Option?
        let value: String
    }

    private let known: KnownOptions
    private(set) var operands: [String] = []
    private(set) var spoken: [Spoken] = []
    /// The last argument, if it is an option that needs a value.
    private(set) var optionWithoutValue: Option?
    /// Whether `--` was read, after which all arguments are operands.
    private(set) var hasEndedOptions = false
    private var firstError: UsageError?

    /// Reads `arguments` with the verbs in `table`.
    static func read(
        _ arguments: [String], by table: VerbTable,
        _ environment: @escaping @Sendable (String) -> String?
    ) throws(UsageError) -> Reading {
        let (verb, reader) = interpret(arguments, by: table)
        guard let verb else { return try reader.understandWithoutVerb(table) }
        return try reader.understand(verb, table, environment)
    }

    /// The verb on the command line, if there is one, and `arguments` interpreted with its options.
    static func interpret(
        _ arguments: [String], by table: VerbTable
    ) -> (VerbTable.Named?, CommandLineReader) {
        // The verb is nearly always first; in that case, no other verb's options are needed.
        let leading = Array(arguments.prefix { !$0.hasPrefix("-") })
        if let found = found(leading, in: arguments, table, isReversed: false) { return found }
        // Until the verb is known, some options are ambiguous: they take a value with one verb but
        // not with a different one (`add --qr FILE`, `show --qr`). Both interpretations are tried.
        let readers = [false, true].lazy.map { isReversed in
            CommandLineReader(
                sorting: arguments,
                KnownOptions(table: table, preferred: [], isReversed: isReversed))
        }
        for reader in readers {
            let isReversed = reader.known.isReversed
            if let found = found(reader.operands, in: arguments, table, isReversed: isReversed) {
                return found
            }
        }
        return (nil, readers[0])
    }

    /// The verb that `words` begin with, and `arguments` interpreted with its options.
    ///
    /// Returns `nil` if that interpretation leads to a different verb.
    private static func found(
        _ words: [String], in arguments: [String], _ table: VerbTable, isReversed: Bool
    ) -> (VerbTable.Named, CommandLineReader)? {
        guard let verb = table.named(by: words) else { return nil }
        let known = KnownOptions(
            table: table, preferred: table.entries[verb.place].options, isReversed: isReversed)
        let reader = CommandLineReader(sorting: arguments, known)
        guard table.named(by: reader.operands)?.place == verb.place else { return nil }
        return (verb, reader)
    }

    private init(sorting arguments: [String], _ known: KnownOptions) {
        self.known = known
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands += rest
                hasEndedOptions = true
                return
            } else if argument.hasPrefix("--") {
                sortLong(argument, rest: &rest)
            } else if argument.hasPrefix("-"), argument != "-" {
                sortShort(argument, rest: &rest)
            } else {
                operands.append(argument)
            }
        }
    }

    private mutating func sortLong(_ argument: String, rest: inout ArraySlice<String>) {
        let text = argument.utf8.dropFirst(2)
        let end = text.firstIndex(of: UInt8(ascii: "=")) ?? text.endIndex
        let name = String(argument[text.startIndex..<end])
        let attached =
            end == text.endIndex ? nil : String(argument[text.index(after: end)..<text.endIndex])
        guard let option = known.first(where: { $0.name == name }) else {
            spoken.append(Spoken(spelling: "--" + name, option: nil, value: ""))
            return
        }
        if !option.acceptsValue, attached != nil {
            firstError = firstError ?? .unexpectedValue(name)
        }
        var value = attached ?? ""
        if option.takesValue, attached == nil { value = self.value(of: option, from: &rest) }
        spoken.append(Spoken(spelling: "--" + name, option: option, value: value))
    }

    // `-qy` means `-q -y`; `-qoFILE` means `-q -o FILE`.
    private mutating func sortShort(_ argument: String, rest: inout ArraySlice<String>) {
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            let option = known.first { $0.short == letter }
            var value = ""
            if let option, option.takesValue {
                value = letters.isEmpty ? self.value(of: option, from: &rest) : String(letters)
                letters = ""
            }
            spoken.append(Spoken(spelling: "-\(letter)", option: option, value: value))
        }
    }

    /// Takes the value of an option from the next argument.
    private mutating func value(of option: Option, from rest: inout ArraySlice<String>) -> String {
        if let next = rest.popFirst() { return next }
        optionWithoutValue = option
        firstError = firstError ?? .missingValue(option.name)
        return ""
    }
}

// The request that the interpreted arguments make.
extension CommandLineReader {
    private func asks(for option: Option) -> Bool { spoken.contains { $0.option == option } }

    private func understandWithoutVerb(_ table: VerbTable) throws(UsageError) -> Reading {
        if asks(for: .help) || operands == ["help"] { return .help(nil) }
        if asks(for: .version) { return .version }
        if let unknown = spoken.first(where: { $0.option == nil }) {
            throw CommandLineReader.unknown(unknown.spelling, among: table.global)
        }
        if operands.first == "help" { return .help(try pageAskedFor(table)) }
        guard let word = operands.first else { throw firstError ?? .missingVerb }
        throw table.unknown(word, following: operands.dropFirst().first)
    }

    private func pageAskedFor(_ table: VerbTable) throws(UsageError) -> Int {
        let words = Array(operands.dropFirst())
        guard let verb = table.named(by: words) else {
            throw table.unknown(words.first ?? "", following: words.dropFirst().first)
        }
        guard verb.words == words.count else {
            throw .unknownVerb(words.joined(separator: " "), nearest: table.names[verb.place])
        }
        return verb.place
    }

    private func understand(
        _ verb: VerbTable.Named, _ table: VerbTable,
        _ environment: @escaping @Sendable (String) -> String?
    ) throws(UsageError) -> Reading {
        // Show help even if there are errors.
        if asks(for: .help) { return .help(verb.place) }
        if asks(for: .version) { return .version }
        let entry = table.entries[verb.place]
        let allowed = entry.options + table.global
        var given: [GivenOption] = []
        for spoken in spoken {
            guard let known = spoken.option else {
                throw CommandLineReader.unknown(spoken.spelling, among: allowed)
            }
            // Verbs define an option differently: for some, it can be repeated.
            guard let option = allowed.first(where: { $0 == known }) else {
                throw .inapplicableOption(known.name, verb: entry.name)
            }
            guard option.isRepeatable || !given.contains(where: { $0.option == option }) else {
                throw .duplicateOption(option.name)
            }
            given.append(GivenOption(option: option, value: spoken.value))
        }
        if let firstError { throw firstError }
        let operands = Array(operands.dropFirst(verb.words))
        guard operands.count >= entry.operands.minimum else {
            throw .missingOperand(entry.operands.placeholder)
        }
        guard operands.count <= entry.operands.maximum else {
            let option = given.lazy.compactMap { $0.attaching(oneOf: operands) }.first
            throw .tooManyOperands(verb: entry.name, meant: option)
        }
        return .run(
            verb.place,
            ParsedArguments(
                entry: entry, accepting: allowed, operands: operands, given: given,
                environment: environment))
    }

    private static func unknown(_ spelling: String, among options: [Option]) -> UsageError {
        let name = String(spelling.drop { $0 == "-" })
        let nearest = NearestName.of(name, among: options.map(\.name))
        return .unknownOption(spelling, nearest: nearest)
    }
}

/// Parses a program's command line.
///
/// Only the code that depends on the program's own verb type is here, because generic code is slow
/// to start.
package enum ArgumentParser<Verb: ProgramVerb> {
    /// The result of parsing a command line.
    package enum Request: Sendable {
        case run(Verb, ParsedArguments)
        case version
        /// The help page of a verb; without one, that of the program.
        case help(Verb?)
        /// The lines to print for a completion script.
        case completions([String])
    }

    /// Whether `arguments`, which may be invalid, ask for JSON.
    package static func wantsJSON(_ arguments: [String]) -> Bool {
        // A completion script would offer the error object as a candidate.
        guard arguments.first != CompletionRequest.verb else { return false }
        return arguments.prefix { $0 != "--" }.contains("--" + Option.json.name)
    }

    /// Parses `arguments`, without the program's own name.
    ///
    /// - Parameter environment: returns the value of an environment variable.
    package static func parse(
        _ arguments: [String],
        environment: @escaping @Sendable (String) -> String? = { _ in nil }
    ) throws(UsageError) -> Request {
        if arguments.first == CompletionRequest.verb {
            return .completions(try Verb.table.completions(Array(arguments.dropFirst())))
        }
        let verbs = Verb.allCases
        switch try CommandLineReader.read(arguments, by: Verb.table, environment) {
        case .version: return .version
        case .help(let place): return .help(place.map { verbs[$0] })
        case .run(let place, let parsed):
            try Verb.check(parsed)
            return .run(verbs[place], parsed)
        }
    }
}
