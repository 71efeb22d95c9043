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
        } catch {
            report(.system(error), to: printer, inJSON: wantsJSON)
        }
        do throws(Failure) {
            switch try request(arguments) {
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

    private static func request(
        _ arguments: [String]
    ) throws(Failure) -> ArgumentParser<Verb>.Request {
        do throws(UsageError) {
            guard ProgramArguments.areUTF8 else { throw .notUTF8 }
            return try ArgumentParser<Verb>.parse(
                arguments, environment: { Environment.value($0) })
        } catch {
            throw .usage(error)
        }
    }

    /// Prints what is still buffered and exits.
    package func finish(_ code: ExitCode) -> Never {
        do throws(Failure) {
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
    package func fail(_ failure: Failure) -> Never {
        StartedCommand.report(failure, to: printer, inJSON: arguments.has(.json))
    }

    private static func report(
        _ failure: Failure, to printer: Printer<Failure>, inJSON: Bool
    ) -> Never {
        var code = failure.exitCode
        // An error here would hide the first one.
        if !inJSON { do { try printer.flush() } catch _ {} }
        printer.endProgress()
        printer.complain(failure.sentence)
        if inJSON {
            // Scripts need the object; report an error if it cannot be printed.
            do throws(Failure) { try printer.endWith(failure.json) } catch {
                printer.complain(error.sentence)
                code = error.exitCode
            }
        }
        ProcessEnd.atOnce(with: code.rawValue)
    }
}

/// Why a program's command failed.
package protocol ProgramFailure: Error {
    /// The command line is invalid.
    static func usage(_ error: UsageError) -> Self
    /// Standard output cannot be written.
    static func standardOutput(_ failure: SystemCallFailure) -> Self
    /// A system call failed.
    static func system(_ failure: SystemCallFailure) -> Self

    /// The message for people.
    var sentence: String { get }
    /// The exit status.
    var exitCode: ExitCode { get }
    /// The facts that a script needs in addition to the message and the exit status.
    var facts: [(String, JSONValue)]? { get }
}

extension ProgramFailure {
    /// By default `nil`: most failures have no facts.
    package var facts: [(String, JSONValue)]? { nil }

    /// What is printed instead of a result if `--json` is given.
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

    /// What a command that has no result prints if `--json` is given.
    func json(_ message: String, _ facts: [(String, JSONValue)]? = nil) -> JSONValue {
        var members = facts ?? [("result", .text("failed"))]
        members.append(("message", .text(message)))
        members.append(("status", .number(Int64(rawValue))))
        return .object(members.sorted { $0.0 < $1.0 })
    }
}
