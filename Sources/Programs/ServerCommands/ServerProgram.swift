import CommandLineInterface

/// The program `watchword-server`.
public enum ServerProgram {
    /// Runs the program with the process's arguments and exits.
    @MainActor public static func main() async -> Never {
        let command = StartedCommand<ServerVerb, ServerFailure>.start()
        let session = ServerSession(arguments: command.arguments, printer: command.printer)
        do throws(ServerFailure) {
            command.finish(try await command.verb.run(session))
        } catch {
            command.fail(error)
        }
    }
}

/// One run of a command: its arguments and its output.
struct ServerSession: Sendable {
    let arguments: ServerArguments
    let printer: Printer<ServerFailure>

    var wantsJSON: Bool { arguments.has(.json) }

    /// The first operand; empty if there is none.
    var operand: String { arguments.operands.first ?? "" }
}
