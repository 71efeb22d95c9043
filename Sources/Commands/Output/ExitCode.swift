/// What the program's exit status says.
enum ExitCode: Int32, CaseIterable, Sendable {
    case done = 0
    /// The answer is no: not found, code wrong, nothing read.
    case no = 1
    case usage = 2
    /// Bad or damaged input.
    case badInput = 3
    /// Presence failed, or locked out.
    case presence = 4
    /// Refused by the server's policy.
    case refused = 5
    /// System or network failure.
    case system = 6

    /// What it says, for the manual.
    var meaning: String {
        switch self {
        case .done: "Done."
        case .no: "The answer is no: not found, a wrong code, nothing read, something refused."
        case .usage: "The program was called in a way it does not understand."
        case .badInput: "Bad or damaged input."
        case .presence: "Presence failed (a wrong passphrase, no terminal to ask on) or locked out."
        case .refused: "Refused by the server's policy."
        case .system: "The system or the network failed."
        }
    }
}
