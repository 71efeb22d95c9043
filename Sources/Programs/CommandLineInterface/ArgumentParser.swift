/// Parses a program's command line.
///
/// Only the code that depends on the program's own verb type is here, because generic code is slow
/// to start.
package enum ArgumentParser<Verb: ProgramVerb> {
    /// The result of parsing a command line.
    package enum Request: Sendable {
        case run(Verb, ParsedArguments)
        case version
        /// The page of a verb, or of the program.
        case help(Verb?)
        /// The lines to print for a completion script.
        case completions([String])
    }

    /// Whether `arguments`, which may be invalid, ask for JSON.
    package static func wantsJSON(_ arguments: [String]) -> Bool {
        // A completion script would offer it.
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
