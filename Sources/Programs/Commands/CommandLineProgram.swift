import CommandLineInterface

/// The program `watchword`.
public enum CommandLineProgram {
    /// Runs the program with the process's arguments and exits.
    public static func main() -> Never {
        let command = StartedCommand<Verb, CommandFailure>.start()
        let session = Session(arguments: command.arguments, printer: command.printer)
        do {
            command.finish(try command.verb.run(session))
        } catch {
            command.fail(CommandFailure(error))
        }
    }
}
