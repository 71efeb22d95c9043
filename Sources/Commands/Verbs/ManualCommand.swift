import Arguments
import CommandRunner

/// `completions` and `manual`, generated from the table of commands.
enum ManualCommand {
    static func completions(_ session: Session) throws(CommandFailure) -> ExitCode {
        let word = session.arguments.operands[0]
        guard let shell = CompletionScript.Shell(rawValue: word) else {
            throw .usage(.needsOneOf(CompletionScript.Shell.allCases.map(\.rawValue)))
        }
        try session.printer.line(CompletionScript.of(shell))
        return .done
    }

    static func manual(_ session: Session) throws(CommandFailure) -> ExitCode {
        try session.printer.line(ManualPage.text)
        return .done
    }
}
