import Arguments
import POSIX

/// The program `watchword`.
public enum CommandLineProgram {
    /// The version that `--version` prints.
    static let version = "0.1.0"

    /// Runs the program with the process's arguments and exits.
    public static func main() -> Never {
        do {
            // This comes first, before any secret is read.
            try ProcessHardening.apply()
            try StandardStream.fillGaps()
        } catch {
            let printer = Printer(isQuiet: false)
            printer.complain(Words.sentence(for: CommandFailure.system(error)))
            ProcessEnd.exit(with: ExitCode.system.rawValue)
        }
        ProcessEnd.exit(with: run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    private static func run(_ arguments: [String]) -> ExitCode {
        let request: ArgumentParser.Request
        do throws(UsageError) {
            guard ProgramArguments.areUTF8 else { throw .notUTF8 }
            request = try ArgumentParser.parse(arguments)
        } catch {
            return report(.usage(error), to: Printer(isQuiet: false))
        }
        let printer: Printer
        do {
            switch request {
            case .version:
                printer = Printer(isQuiet: false)
                try printer.line("watchword \(version)")
                try printer.flush()
                return .done
            case .help(let verb):
                printer = Printer(isQuiet: false)
                try printer.line(verb.map(HelpPage.of) ?? HelpPage.ofProgram())
                try printer.flush()
                return .done
            case .run(let verb, let parsed):
                return run(verb, parsed)
            }
        } catch {
            return report(error, to: Printer(isQuiet: false))
        }
    }

    private static func run(_ verb: Verb, _ arguments: ParsedArguments) -> ExitCode {
        let printer = Printer(isQuiet: arguments.has(.quiet))
        do {
            let code = try verb.run(Session(arguments: arguments, printer: printer))
            try printer.flush()
            return code
        } catch {
            if arguments.has(.json), case .presence(let refusal) = error {
                // Scripts need these facts; report an error if they cannot be printed.
                do { try printer.line(refusal.facts) } catch { return report(error, to: printer) }
            }
            return report(error, to: printer)
        }
    }

    private static func report(_ failure: CommandFailure, to printer: Printer) -> ExitCode {
        // An error here would hide the first one.
        do { try printer.flush() } catch _ {}
        printer.endProgress()
        printer.complain(Words.sentence(for: failure))
        return ExitCode(failure)
    }
}
