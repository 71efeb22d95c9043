public import POSIX
public import Presence

/// Why the system's modules had no answer.
public struct PAMCheckFailure: PresenceFailure, Hashable {
    /// What came in between.
    public let reason: Reason
    /// Whether a question was answered, or a module found fault with something, before.
    public let mayHideAttempt: Bool

    /// What came between the question and an answer.
    public enum Reason: Error, Hashable, Sendable {
        /// Nothing had come of it in the time that there was.
        case timedOut
        /// The person broke off, or closed the terminal.
        case cancelled
        /// There is no service file, so no modules are named.
        case noServiceFile
        /// A module asks something, and there is no terminal to ask it on.
        case noTerminal
        /// What was typed is longer than a module takes.
        case answerTooLong
        /// The terminal did not do its work.
        case terminal(SystemCallFailure)
        /// The user of this process has no name.
        case noUserName
        /// It is the person, but the account is locked or has expired.
        case accountRefused(PAMCallFailure)
        /// No module could tell.
        case failed(PAMCallFailure)
        /// The program that runs the modules ended before its verdict, most likely by a module's fault.
        case ended(ChildProcess.Ending)
        /// A module says more than anybody would read.
        case talksTooMuch
        /// What the program that runs the modules said makes no sense.
        case nonsense
        /// The program is neither beside the running one nor where it is installed.
        case programNotFound
        /// The program is of another version than this one.
        case otherVersion
        /// A call of our own failed.
        case system(SystemCallFailure)
    }
}

extension PAMCheckFailure.Reason {
    init(_ error: TerminalError) {
        self =
            switch error {
            case .none: .noTerminal
            case .ended, .interrupted: .cancelled
            case .tooLong: .answerTooLong
            case .system(let failure): .terminal(failure)
            }
    }
}
