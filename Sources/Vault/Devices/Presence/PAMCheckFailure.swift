public import WatchwordSystem

/// Why the system's modules returned no verdict.
public struct PAMCheckFailure: PresenceFailure, Hashable {
    /// The reason.
    public let reason: Reason
    /// Whether, before the failure, a question had been answered or a module had reported an error.
    public let mayConcealAttempt: Bool

    /// The failure of a check, perhaps in another process.
    package init(reason: Reason, mayConcealAttempt: Bool) {
        self.reason = reason
        self.mayConcealAttempt = mayConcealAttempt
    }

    /// Why there is no verdict.
    public enum Reason: Error, Hashable, Sendable {
        /// The timeout expired.
        case timedOut
        /// The person cancelled, or closed the terminal.
        case cancelled
        /// There is no service file, so there are no modules to ask.
        case noServiceFile
        /// A module has a question, and there is no terminal.
        case noTerminal
        /// The answer is longer than PAM allows.
        case answerTooLong
        /// The terminal failed.
        case terminal(SystemCallFailure)
        /// The user of this process has no name.
        case noUserName
        /// The person was recognised, but the account is locked or has expired.
        case accountRefused(PAMCallFailure)
        /// No module could decide.
        case failed(PAMCallFailure)
        /// The program that runs the modules ended before its verdict, most likely because of a
        /// module.
        case ended(ChildProcess.Ending)
        /// The modules sent too many messages.
        case talksTooMuch
        /// The program that runs the modules broke the protocol.
        case nonsense
        /// The program is neither beside the running one nor where an installation puts it.
        case programNotFound
        /// The program has a different version.
        case otherVersion
        /// The agent already checks this user's presence, for this entry or purpose: one answer or touch
        /// must not satisfy several checks.
        case alreadyAsking(for: String)
        /// A system call in this process failed.
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

    init(_ failure: HelperFailure) {
        self =
            switch failure {
            case .notFound: .programNotFound
            case .otherVersion: .otherVersion
            case .died(let ending): .ended(ending)
            case .cannotStart(let failure), .notConfined(let failure), .system(let failure):
                .system(failure)
            }
    }
}
