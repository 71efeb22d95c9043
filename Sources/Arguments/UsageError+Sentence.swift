internal import POSIX

extension UsageError {
    /// What was wrong, in a sentence for the person who called `program`.
    package func sentence(program: String) -> String {
        switch self {
        case .notUTF8: "an argument is not UTF-8; if it is a file's name, rename the file"
        case .missingVerb: "what is to be done? \(program) --help lists the verbs"
        case .unknownVerb(let word, let nearest):
            "there is no verb “\(word.visibleOnTerminal)”"
                + Self.meant(nearest, "\(program) --help")
        case .unknownOption(let spelling, let nearest):
            "there is no option “\(spelling.visibleOnTerminal)” here"
                + Self.meant(nearest.map { "--" + $0 }, "--help")
        case .foreignOption(let name, let verb):
            "--\(name) means nothing to “\(verb)”; see \(program) \(verb) --help"
        case .doubledOption(let name): "--\(name) is given twice; give it once"
        case .missingValue(let name): "--\(name) needs a value after it"
        case .unexpectedValue(let name): "--\(name) takes no value"
        case .badValue(let name, let expected): "--\(name) takes \(expected)"
        case .badVariable(let name, let expected): "\(name) takes \(expected)"
        case .missingOperand(let placeholder): "\(placeholder) is missing; see --help"
        case .emptyName: "NAME is empty; \(program) list prints the names there are"
        case .tooManyOperands(let verb):
            "“\(verb)” takes fewer operands; see \(program) \(verb) --help"
        case .conflict(let one, let other): "--\(one) and --\(other) exclude each other"
        case .needs(let one, let other): "--\(one) goes with --\(other) only"
        case .needsOneOf(let choices): "one of these is needed: " + choices.joined(separator: ", ")
        case .saidByEntry(let name): "--\(name) says what the entry says itself; leave one out"
        case .twoReadersOfStandardInput: "standard input can be read for one option only"
        }
    }

    /// What may help: the name that was probably meant, or where names are listed.
    package static func meant(_ nearest: String?, _ help: String) -> String {
        nearest.map { "; did you mean “\($0)”?" } ?? "; see \(help)"
    }
}
