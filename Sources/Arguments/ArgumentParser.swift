/// Understands a command line in the GNU manner: options anywhere, `--name value`, `--name=value`,
/// `-q`, and `--` before operands that begin with a dash.
package struct ArgumentParser<Verb: ProgramVerb> {
    /// What a command line asks for.
    package enum Request: Sendable {
        case run(ParsedArguments<Verb>)
        case version
        /// The page of a verb, or of the program.
        case help(Verb?)
    }

    private let known: [Option]
    private var operands: [String] = []
    private var given: [(spelling: String, option: Option?, value: String)] = []
    private var firstError: UsageError?

    /// Understands `arguments`, the program's own name not among them.
    ///
    /// - Parameter environment: tells a variable's value, for options that it may say.
    package static func parse(
        _ arguments: [String],
        environment: @escaping @Sendable (String) -> String? = { _ in nil }
    ) throws(UsageError) -> Request {
        // Until the verb is found, it is open what an option means that takes a value with one verb
        // and none with another (`add --qr FILE`, `show --qr`): both are tried.
        var first: ArgumentParser?
        for known in [Verb.allOptions, Verb.allOptions.reversed()] {
            let parser = ArgumentParser(sorting: arguments, known: known)
            first = first ?? parser
            guard let (verb, used) = Verb.named(by: parser.operands) else { continue }
            let final = ArgumentParser(sorting: arguments, known: verb.page.options + known)
            guard let (again, _) = Verb.named(by: final.operands), again == verb else { continue }
            return try final.understand(
                verb, operands: Array(final.operands.dropFirst(used)), environment)
        }
        return try (first ?? ArgumentParser(sorting: arguments, known: [])).understandWithoutVerb()
    }

    private init(sorting arguments: [String], known: [Option]) {
        self.known = known
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands += rest
                return
            } else if argument.hasPrefix("--") {
                sortLong(argument, rest: &rest)
            } else if argument.hasPrefix("-"), argument != "-" {
                sortShort(argument)
            } else {
                operands.append(argument)
            }
        }
    }

    private mutating func sortLong(_ argument: String, rest: inout ArraySlice<String>) {
        let parts = argument.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count == 2 ? String(parts[1]) : nil
        guard let option = known.first(where: { $0.name == name }) else {
            given.append(("--" + name, nil, ""))
            return
        }
        var value = attached ?? ""
        if option.value == .none, attached != nil {
            firstError = firstError ?? .unexpectedValue(name)
        } else if option.value != .none, attached == nil {
            if let next = rest.popFirst() {
                value = next
            } else {
                firstError = firstError ?? .missingValue(name)
            }
        }
        given.append(("--" + name, option, value))
    }

    // No short option takes a value, so `-qy` is `-q -y`.
    private mutating func sortShort(_ argument: String) {
        for letter in argument.dropFirst() {
            given.append(("-\(letter)", known.first { $0.short == letter }, ""))
        }
    }

    private func asks(for option: Option) -> Bool { given.contains { $0.option == option } }

    private func understandWithoutVerb() throws(UsageError) -> Request {
        if asks(for: .help) || operands == ["help"] { return .help(nil) }
        if asks(for: .version) { return .version }
        if let unknown = given.first(where: { $0.option == nil }) {
            throw ArgumentParser.unknown(unknown.spelling, among: Verb.global)
        }
        if operands.first == "help" { return .help(try pageAskedFor()) }
        guard let word = operands.first else { throw firstError ?? .missingVerb }
        throw Verb.unknown(word, following: operands.dropFirst().first)
    }

    private func pageAskedFor() throws(UsageError) -> Verb {
        let words = Array(operands.dropFirst())
        guard let (verb, used) = Verb.named(by: words) else {
            throw Verb.unknown(words.first ?? "", following: words.dropFirst().first)
        }
        guard used == words.count else {
            throw .unknownVerb(words.joined(separator: " "), nearest: verb.name)
        }
        return verb
    }

    private func understand(
        _ verb: Verb, operands: [String], _ environment: @escaping @Sendable (String) -> String?
    ) throws(UsageError) -> Request {
        // Help is given whatever else is wrong.
        if asks(for: .help) { return .help(verb) }
        if asks(for: .version) { return .version }
        var values: [Option: String] = [:]
        let allowed = verb.page.options + Verb.global
        for (spelling, option, value) in given {
            guard let option else { throw ArgumentParser.unknown(spelling, among: allowed) }
            guard allowed.contains(option) else {
                throw .foreignOption(option.name, verb: verb.name)
            }
            guard values.updateValue(value, forKey: option) == nil else {
                throw .doubledOption(option.name)
            }
        }
        if let firstError { throw firstError }
        let page = verb.page
        guard operands.count >= page.operands.minimum else {
            throw .missingOperand(page.operands.placeholder)
        }
        guard operands.count <= page.operands.maximum else {
            throw .tooManyOperands(verb: verb.name)
        }
        let parsed = ParsedArguments(
            verb: verb, operands: operands, given: values, environment: environment)
        try Verb.check(parsed)
        return .run(parsed)
    }

    private static func unknown(_ spelling: String, among options: [Option]) -> UsageError {
        let name = String(spelling.drop { $0 == "-" })
        let nearest = NearestName.of(name, among: options.map(\.name))
        return .unknownOption(spelling, nearest: nearest)
    }
}
