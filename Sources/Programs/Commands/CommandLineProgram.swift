import CommandLineInterface
import SecretVault
import WatchwordSystem

/// The program `watchword`.
public enum CommandLineProgram {
    /// Runs the program with the process's arguments and exits.
    public static func main() -> Never {
        let command = StartedCommand<Verb, CommandFailure>.start()
        let session = Session(arguments: command.arguments, printer: command.printer)
        do {
            command.finish(try session.run(command.verb))
        } catch {
            command.fail(error)
        }
    }
}

extension Session {
    /// Runs a command; an error of the vault without a place concerns this command's vault.
    fileprivate func run(_ verb: Verb) throws -> ExitCode {
        do { return try verb.run(self) } catch let error as VaultError {
            throw CommandFailure.at(VisibleText.of(try vaultPath()), error)
        }
    }
}

typealias Printer = CommandLineInterface.Printer<CommandFailure>

/// One run of a command: its arguments and its output.
struct Session {
    let arguments: ParsedArguments
    let printer: Printer

    var wantsJSON: Bool { arguments.has(.json) }

    /// The time to compute codes for: `--at`, or now.
    func moment() throws -> Int64 {
        try givenMoment() ?? SystemClock.unixTime()
    }

    /// The time of `--at`; `nil` if the option was not given.
    func givenMoment() throws -> Int64? {
        guard let text = arguments[.at] else { return nil }
        return try moment(of: .at, text)
    }

    /// Parses `text`, the value of `option`, as a time.
    func moment(of option: Option, _ text: String) throws -> Int64 {
        guard let timestamp = Timestamp(parsing: text) else {
            let expected = "Unix seconds or a time like 2026-11-21T01:09:30Z"
            throw UsageError.badValue(option.name, expected: expected)
        }
        return timestamp.unixTime
    }

    /// Whether the user is asked to choose; otherwise the command fails.
    var canAskToChoose: Bool {
        printer.outputIsTerminal && StandardStream.input.isTerminal && !wantsJSON
    }

    /// Asks for confirmation before a secret is printed on a terminal, and warns before it is
    /// printed to a file that other users can read.
    func confirmShowing(_ what: String) throws {
        printer.warnIfOthersCanRead()
        guard printer.outputIsTerminal, !arguments.has(.yes) else { return }
        try Question.confirm("Show \(what) on this terminal?")
    }
}
