import WatchwordSystem

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
