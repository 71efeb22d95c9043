/// The program's exit status.
enum ExitCode: Int32, CaseIterable, Sendable {
    case done = 0
    /// A negative result: not found, wrong code, nothing read.
    case no = 1
    case usage = 2
    /// Invalid or damaged input.
    case badInput = 3
    /// Authentication failed, or locked out.
    case presence = 4
    /// Refused by the server's policy.
    case refused = 5
    /// System or network failure.
    case system = 6

    /// The description in the manual.
    var meaning: String {
        switch self {
        case .done: "Success."
        case .no: "Negative result: no such entry, wrong code, nothing read, an item refused."
        case .usage: "Invalid command line."
        case .badInput: "Invalid or damaged input."
        case .presence:
            "Authentication failed (wrong passphrase, no terminal to prompt on) or locked out."
        case .refused: "Refused by the server's policy."
        case .system: "System or network failure."
        }
    }
}
