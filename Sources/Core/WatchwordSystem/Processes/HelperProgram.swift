/// The command line of a helper process, which takes no operands and communicates over pipes.
package enum HelperProgram {
    /// Calls `serve`, or prints what the only argument requests.
    ///
    /// - Parameters:
    ///   - name: the program's name.
    ///   - hint: what a user who starts the program by hand needs to know.
    package static func main(_ name: String, hint: String, serve: () -> Never) {
        main(name, hint: hint, tasks: []) { _ in serve() }
    }

    /// Does the same for a program whose only argument can be one of `tasks`.
    package static func main(
        _ name: String, hint: String, tasks: [String], serve: (String?) -> Never
    ) {
        let about = "\(name) is a helper program of watchword; \(hint)."
        switch CommandLine.arguments.dropFirst().first {
        case let task where task.map(tasks.contains) ?? true:
            // On a terminal, `serve` would wait for input; print what the program is instead.
            guard !StandardStream.input.isTerminal else { refuse(about) }
            serve(task)
        case "--version": say("\(name) \(ProgramVersion.text)", on: .output)
        case "--help": say(about, on: .output)
        default: refuse("\(name) takes no arguments.")
        }
    }

    /// Does the same for a program that takes no arguments, one of `options` with a value, or
    /// `task`.
    package static func main(
        _ name: String, hint: String, oneOf options: [String], task: String,
        serve: (_ argument: String?, _ value: String?) -> Never
    ) {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let option = arguments.first, options.contains(option),
            !StandardStream.input.isTerminal
        else { return main(name, hint: hint, tasks: [task]) { serve($0, nil) } }
        serve(option, arguments.last)
    }

    /// Does the same for a program that takes options, each at most once, and with a value.
    package static func main(
        _ name: String, hint: String, options: [String], serve: ([String: String]) -> Never
    ) {
        var values: [String: String] = [:]
        var rest = CommandLine.arguments.dropFirst()
        while let option = rest.popFirst(), options.contains(option), values[option] == nil {
            values[option] = rest.popFirst()
        }
        let count = CommandLine.arguments.count - 1
        guard count == 2 * values.count, !StandardStream.input.isTerminal else {
            return main(name, hint: hint) { serve([:]) }
        }
        serve(values)
    }

    private static func refuse(_ sentence: String) -> Never {
        say(sentence, on: .error)
        ProcessEnd.atOnce(with: 2)
    }

    private static func say(_ sentence: String, on stream: StandardStream) {
        // A failure here cannot be reported.
        _ = ifPossible(try stream.write(Array("\(sentence)\n".utf8).span))
    }
}

/// The version that every program prints for `--version`.
package enum ProgramVersion {
    package static let text = "0.1.0"
}
