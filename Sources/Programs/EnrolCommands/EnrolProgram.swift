import CommandLineInterface

/// The program `watchword-enrol`.
public enum EnrolProgram {
    /// Runs the program with the process's arguments and exits.
    public static func main() -> Never {
        let command = StartedCommand<EnrolVerb, EnrolFailure>.start()
        let session = EnrolSession(arguments: command.arguments, printer: command.printer)
        do {
            command.finish(try command.verb.run(session))
        } catch {
            command.fail(error)
        }
    }
}

/// One run of a command, with its arguments and output.
struct EnrolSession: Sendable {
    let arguments: ParsedArguments
    let printer: Printer<EnrolFailure>

    /// The first operand; empty if there is none.
    var operand: String { arguments.operands.first ?? "" }
}
