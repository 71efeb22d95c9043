package import WatchwordCoding
package import WatchwordSystem

/// Why a program's command failed.
package protocol ProgramFailure: Error {
    /// The command line is invalid.
    static func usage(_ error: UsageError) -> Self
    /// Standard output cannot be written.
    static func standardOutput(_ failure: SystemCallFailure) -> Self
    /// A system call failed.
    static func system(_ failure: SystemCallFailure) -> Self

    /// The message for people.
    var sentence: String { get }
    /// The exit status.
    var exitCode: ExitCode { get }
    /// The facts that a script needs in addition to the message and the exit status.
    var facts: [(String, JSONValue)]? { get }
}

extension ProgramFailure {
    /// By default `nil`: most failures have no facts.
    package var facts: [(String, JSONValue)]? { nil }

    /// What is printed instead of a result if `--json` is given.
    var json: JSONValue { exitCode.json(sentence, facts) }
}

/// The exit status of a program.
package enum ExitCode: Int32, CaseIterable, Sendable {
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

    /// What a command that has no result prints if `--json` is given.
    func json(_ message: String, _ facts: [(String, JSONValue)]? = nil) -> JSONValue {
        var members = facts ?? [("result", .text("failed"))]
        members.append(("message", .text(message)))
        members.append(("status", .number(Int64(rawValue))))
        return .object(members.sorted { $0.0 < $1.0 })
    }
}
