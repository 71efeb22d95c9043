import Arguments
import CommandRunner
import VerificationService

/// `completions`, `manual` and `openapi`.
enum ManualCommand {
    static func completions(_ session: ServerSession) throws(ServerFailure) -> ExitCode {
        guard let shell = CompletionScript<ServerVerb>.Shell(rawValue: session.operand) else {
            let shells = CompletionScript<ServerVerb>.Shell.allCases.map(\.rawValue)
            throw .usage(.needsOneOf(shells))
        }
        try session.printer.line(CompletionScript<ServerVerb>.of(shell))
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
