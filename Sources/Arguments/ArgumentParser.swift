/// Understands the command lines of a program.
///
/// What depends on the program's own type of verbs is here alone, because what is generic over it is slow
/// to start.
package enum ArgumentParser<Verb: ProgramVerb> {
    /// What a command line asks for.
    package enum Request: Sendable {
        case run(Verb, ParsedArguments)
        case version
        /// The page of a verb, or of the program.
        case help(Verb?)
    }

    /// Understands `arguments`, the program's own name not among them.
    ///
    /// - Parameter environment: tells a variable's value, for options that it may say.
    package static func parse(
        _ arguments: [String],
        environment: @escaping @Sendable (String) -> String? = { _ in nil }
    ) throws(UsageError) -> Request {
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
