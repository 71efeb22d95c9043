/// What was wrong with the way the program was called; no value is repeated.
enum ServerUsageError: Error, Hashable, Sendable {
    case notUTF8
    case missingVerb
    case unknownVerb
    case unknownOption(String)
    case foreignOption(String, verb: String)
    case doubledOption(String)
    case missingValue(String)
    case unexpectedValue(String)
    /// The name of the option, or of the variable.
    case badValue(String, expected: String)
    case missingOperand(String)
    case tooManyOperands
    case needs(String, with: String)
}

/// A call that was understood: `--name value`, `--name=value`, options anywhere, `--` before operands.
struct ServerArguments: Sendable {
    /// What a command line asks for.
    enum Request: Sendable {
        case run(ServerArguments)
        case version
        /// The page of a verb, or of the program.
        case help(ServerVerb?)
    }

    let verb: ServerVerb
    let operand: String?
    private let given: [ServerOption: String]
    private let environment: @Sendable (String) -> String?

    /// Understands `arguments`, the program's own name not among them.
    static func parse(
        _ arguments: [String], environment: @escaping @Sendable (String) -> String?
    ) throws(ServerUsageError) -> Request {
        var words: [String] = []
        var given: [(option: ServerOption, value: String)] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                words += rest
                rest = []
            } else if argument.hasPrefix("-"), argument != "-" {
                given.append(try option(argument, &rest))
            } else {
                words.append(argument)
            }
        }
        let named = ServerVerb.named(by: words)
        if given.contains(where: { $0.option == .help }) { return .help(named?.verb) }
        if given.contains(where: { $0.option == .version }) { return .version }
        guard let (verb, used) = named else {
            throw words.isEmpty ? .missingVerb : .unknownVerb
        }
        var values: [ServerOption: String] = [:]
        for (option, value) in given {
            guard verb.options.contains(option) else {
                throw .foreignOption(option.name, verb: verb.name)
            }
            guard values.updateValue(value, forKey: option) == nil else {
                throw .doubledOption(option.name)
            }
        }
        let operands = words.dropFirst(used)
        guard operands.count <= (verb.operand == nil ? 0 : 1) else { throw .tooManyOperands }
        if let wanted = verb.operand, operands.first?.isEmpty ?? true {
            throw .missingOperand(wanted)
        }
        return .run(
            ServerArguments(
                verb: verb, operand: operands.first, given: values, environment: environment))
    }

    private static func option(
        _ argument: String, _ rest: inout ArraySlice<String>
    ) throws(ServerUsageError) -> (ServerOption, String) {
        if argument == "-h" { return (.help, "") }
        if argument == "-V" { return (.version, "") }
        let parts = argument.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard argument.hasPrefix("--"), let name = parts.first,
            let option = ServerOption.all.first(where: { $0.name == name })
        else {
            throw .unknownOption(String(argument.prefix { $0 != "=" }))
        }
        guard option.placeholder != nil else {
            guard parts.count == 1 else { throw .unexpectedValue(option.name) }
            return (option, "")
        }
        guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
            throw .missingValue(option.name)
        }
        return (option, value)
    }

    /// What the command line says, or else the environment.
    subscript(_ option: ServerOption) -> String? {
        if let value = given[option] { return value }
        guard option.isInEnvironment, verb.options.contains(option) else { return nil }
        return environment(option.variable)
    }

    /// Whether it is said; in the environment `0`, `no` and `false` say that it is not.
    func has(_ option: ServerOption) -> Bool {
        if given[option] != nil { return true }
        guard let value = self[option] else { return false }
        return !["0", "no", "false"].contains(value.lowercased())
    }

    /// The value as `read` understands it; nothing when nothing is said.
    func value<Value>(
        _ option: ServerOption, expected: String, _ read: (String) -> Value?
    ) throws(ServerUsageError) -> Value? {
        guard let text = self[option] else { return nil }
        guard let value = read(text) else {
            let place = given[option] == nil ? option.variable : "--" + option.name
            throw .badValue(place, expected: expected)
        }
        return value
    }
}
