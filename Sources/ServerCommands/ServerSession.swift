import Arguments
import CommandRunner

/// One run of a command: its arguments and its output.
struct ServerSession: Sendable {
    let arguments: ServerArguments
    let printer: Printer<ServerFailure>

    var wantsJSON: Bool { arguments.has(.json) }

    /// The first operand; empty if there is none.
    var operand: String { arguments.operands.first ?? "" }
}
