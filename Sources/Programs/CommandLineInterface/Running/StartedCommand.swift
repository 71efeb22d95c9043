package import WatchwordCoding
package import WatchwordSystem

/// The command that the process's arguments ask for, ready to run.
///
/// The program calls ``start()``, runs the command, and then calls ``finish(_:)`` or ``fail(_:)``.
/// Starting and finishing are separate because only one of the programs runs its commands
/// asynchronously.
package struct StartedCommand<Verb: ProgramVerb, Failure: ProgramFailure> {
    package let verb: Verb
    package let arguments: ParsedArguments
    package let printer: Printer<Failure>

    /// Protects the process and parses its arguments.
    ///
    /// Exits after printing a help page, the version or completions, and if anything fails.
    package static func start() -> StartedCommand {
        let printer = Printer<Failure>(program: Verb.program, isQuiet: false)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let wantsJSON = ArgumentParser<Verb>.wantsJSON(arguments)
        do {
            // This comes first, before any secret is read.
            try ProcessHardening.apply()
            try StandardStream.fillGaps()
            guard ProgramArguments.areUTF8 else { throw UsageError.notUTF8 }
            switch try ArgumentParser<Verb>.parse(
                arguments, environment: { Environment.value($0) })
            {
            case .version: try printer.line("\(Verb.program) \(ProgramVersion.text)")
            case .help(let verb):
                try printer.line(verb.map(HelpPage<Verb>.of) ?? HelpPage<Verb>.ofProgram())
            case .completions(let lines): for line in lines { try printer.line(line) }
            case .run(let verb, let arguments):
                return StartedCommand(
                    verb: verb, arguments: arguments,
                    printer: Printer(program: Verb.program, isQuiet: arguments.has(.quiet)))
            }
            try printer.flush()
        } catch {
            report(error, to: printer, inJSON: wantsJSON)
        }
        ProcessEnd.atOnce(with: ExitCode.done.rawValue)
    }

    /// Prints the remaining buffered data and exits.
    package func finish(_ code: ExitCode) -> Never {
        do {
            try printer.flush()
            if code != .done, arguments.has(.json), !printer.hasOutput {
                try printer.endWith(code.json("there is no result"))
            }
        } catch {
            fail(error)
        }
        ProcessEnd.atOnce(with: code.rawValue)
    }

    /// Reports that the command failed and exits.
    package func fail(_ error: any Error) -> Never {
        StartedCommand.report(error, to: printer, inJSON: arguments.has(.json))
    }

    private static func report(
        _ error: any Error, to printer: Printer<Failure>, inJSON: Bool
    ) -> Never {
        let report = Failure.report(on: error)
        var code = report.exitCode
        // An error here would hide the first one.
        if !inJSON { do { try printer.flush() } catch _ {} }
        printer.endProgress()
        printer.complain(report.sentence)
        if inJSON {
            // Scripts need the object; report an error if it cannot be printed.
            do { try printer.endWith(report.json) } catch {
                let report = Failure.report(on: error)
                printer.complain(report.sentence)
                code = report.exitCode
            }
        }
        ProcessEnd.atOnce(with: code.rawValue)
    }
}

/// The failures that every program must be able to report in its own words.
package protocol ProgramFailure: Error {
    /// Standard output cannot be written.
    static func standardOutput(_ failure: SystemCallFailure) -> Self
    /// The report about an error of the program or of any other module.
    static func report(on error: any Error) -> FailureReport
}

/// The report about a failure.
package struct FailureReport {
    /// The message for people.
    package let sentence: String
    package let exitCode: ExitCode
    /// The facts that a script needs in addition to the message and the exit status; most failures
    /// have none.
    package let facts: [(String, JSONValue)]?

    package init(
        _ sentence: String, _ exitCode: ExitCode, _ facts: [(String, JSONValue)]? = nil
    ) {
        self.sentence = sentence
        self.exitCode = exitCode
        self.facts = facts
    }

    /// An error that is missing from the program's table, which is a bug.
    package init(unexpected error: any Error) {
        assertionFailure("there is no sentence for \(type(of: error))")
        self.init("unexpected error (\(type(of: error))); please report this bug", .system)
    }

    /// The output with `--json` if there is no result.
    var json: JSONValue { exitCode.json(sentence, facts) }
}

/// The exit status of a program.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case done = 0
    /// A negative result: not found, wrong code, nothing read.
    case no = 1
    case usage = 2
    /// Invalid or damaged input.
    case badInput = 3
    /// Authentication failed, or locked out.
    case presence = 4
    /// Refused by the server's policy.
    case refused = 5
    /// System or network failure.
    case system = 6

    /// The output with `--json` of a command that has no result.
    func json(_ message: String, _ facts: [(String, JSONValue)]? = nil) -> JSONValue {
        var members = facts ?? [("result", .text("failed"))]
        members.append(("message", .text(message)))
        members.append(("status", .number(Int64(rawValue))))
        return .object(members.sorted { $0.0 < $1.0 })
    }
}
