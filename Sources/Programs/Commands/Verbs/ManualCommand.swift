import CommandLineInterface

/// `completions` and `manual`, generated from the table of commands.
enum ManualCommand {
    static func completions(_ session: Session) throws -> ExitCode {
        let word = session.arguments.operands[0]
        let script = try CompletionScript.of(
            word, program: Verb.program,
            names: "list --\(Option.names.name) --\(Option.agentOnly.name)")
        try session.printer.line(script)
        return .done
    }

    static func manual(_ session: Session) throws -> ExitCode {
        try session.printer.line(ManualPage.text)
        return .done
    }
}
