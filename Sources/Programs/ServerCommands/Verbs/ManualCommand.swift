import CommandLineInterface
import VerificationService

/// `completions`, `manual` and `openapi`.
enum ManualCommand {
    static func completions(_ session: ServerSession) throws(ServerFailure) -> ExitCode {
        let script: String
        do {
            script = try CompletionScript.of(session.operand, program: ServerVerb.program)
        } catch {
            throw .usage(error)
        }
        try session.printer.line(script)
        return .done
    }

    static func manual(_ session: ServerSession) throws(ServerFailure) -> ExitCode {
        try session.printer.line(ManualPage<ServerVerb>.text)
        return .done
    }

    static func openapi(_ session: ServerSession) throws(ServerFailure) -> ExitCode {
        try session.printer.line(Service.interfaceDescription())
        return .done
    }
}
