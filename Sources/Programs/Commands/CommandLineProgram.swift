import CommandLineInterface
import SecretVault

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
    /// Runs a command; an error of the vault that names no place concerns this command's vault.
    fileprivate func run(_ verb: Verb) throws -> ExitCode {
        do { return try verb.run(self) } catch let error as VaultError {
            throw CommandFailure.at(VisibleText.of(try vaultPath()), error)
        }
    }
}
