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

extension ManualPage {
    /// The manual's paragraph about errors as JSON.
    ///
    /// - Parameter rest: what follows the usual result; by default, there is no other.
    package static func jsonErrors(_ rest: String = ".") -> String {
        """
        With
        .Fl -json ,
        a command that fails also prints an object with
        .Ql message ,
        the exit
        .Ql status
        and the
        .Ql result
        .Ql failed \(rest)
        Each object is printed as soon as what it reports is done, and holds despite a later error.
        """
    }

    /// The manual's list of exit statuses.
    ///
    /// - Parameter meaning: describes a status; `nil` if the program does not use it.
    package static func exitStatus(_ meaning: (ExitCode) -> String?) -> String {
        let rows = ExitCode.allCases.flatMap { code in
            meaning(code).map { [".It \(code.rawValue)", escaped($0)] } ?? []
        }
        return ([".Sh EXIT STATUS", ".Bl -tag -width Ds"] + rows + [".El"]).joined(separator: "\n")
    }
}
