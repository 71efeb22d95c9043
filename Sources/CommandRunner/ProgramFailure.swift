package import Arguments
package import JSONText
package import POSIX

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
    /// What a script needs to know; printed if `--json` is given.
    var facts: JSONValue? { get }
}

extension ProgramFailure {
    /// Nothing.
    package var facts: JSONValue? { nil }
}
