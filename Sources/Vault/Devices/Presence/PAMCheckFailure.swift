public import WatchwordSystem

/// Why the system's modules returned no verdict.
public struct PAMCheckFailure: PresenceFailure, SystemCallError, Hashable {
    /// Why there is no verdict.
    public let reason: Reason
    /// Whether, before the failure, a question had been answered or a module had reported an error.
    public let mayConcealAttempt: Bool

    /// The failure of a check, perhaps in another process.
    package init(_ reason: Reason, mayConcealAttempt: Bool = false) {
        self.reason = reason
        self.mayConcealAttempt = mayConcealAttempt
    }

    /// Why there is no verdict.
    public enum Reason: Hashable, Sendable {
        /// The timeout for the whole check expired.
        case timedOut
        /// The person cancelled, or closed the terminal.
        case cancelled
        /// There is no service file, so there are no modules to ask.
        case noServiceFile
        /// A module has a question, and there is no terminal.
        case noTerminal
        /// The answer is longer than PAM allows.
        case answerTooLong
        /// Reading from the terminal or writing to it failed.
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
        /// The program is neither next to the running program nor in the installation folder.
        case programNotFound
        /// The program has a different version.
        case otherVersion
        /// The agent already checks this user's presence, for this entry or purpose: one answer or
        /// touch must not satisfy several checks.
        case alreadyAsking(for: String)
        /// A system call in this process failed.
        case system(SystemCallFailure)
    }
}

/// A libpam call that failed.
public struct PAMCallFailure: Hashable, Sendable {
    /// The libpam calls that are made.
    public enum Call: String, CaseIterable, Sendable {
        case start = "pam_start"
        case authenticate = "pam_authenticate"
        case validateAccount = "pam_acct_mgmt"
    }

    /// The libpam call that failed.
    public let call: Call
    /// The return code, one of the `PAM_…` constants.
    public let code: UInt8

    /// The meaning of the code.
    public enum Cause: Hashable, Sendable {
        case moduleNotLoaded
        case moduleFailed
        case notPermitted
        /// The module's data or device, or the service that it asks, cannot be reached.
        case unavailable
        case passwordExpired
        case promptFailed
        case gaveUp
        case other
    }

    /// The cause, by Linux-PAM's numbers in `_pam_types.h`.
    public var cause: Cause {
        switch code {
        // PAM_OPEN_ERR, PAM_SYMBOL_ERR, PAM_MODULE_UNKNOWN
        case 1, 2, 28: .moduleNotLoaded
        // PAM_SERVICE_ERR, PAM_SYSTEM_ERR, PAM_BUF_ERR
        case 3, 4, 5: .moduleFailed
        // PAM_CRED_INSUFFICIENT
        case 8: .notPermitted
        // PAM_AUTHINFO_UNAVAIL
        case 9: .unavailable
        // PAM_NEW_AUTHTOK_REQD, PAM_AUTHTOK_EXPIRED
        case 12, 27: .passwordExpired
        // PAM_CONV_ERR, PAM_CONV_AGAIN
        case 19, 30: .promptFailed
        // PAM_ABORT
        case 26: .gaveUp
        default: .other
        }
    }

    /// Records the call that returned `code`.
    public init(call: Call, code: Int32) {
        self.call = call
        self.code = UInt8(clamping: code)
    }
}

extension PAMCheckFailure {
    init(terminal error: TerminalError) {
        let reason: Reason =
            switch error {
            case .none: .noTerminal
            case .ended, .interrupted: .cancelled
            case .tooLong: .answerTooLong
            case .system(let failure): .terminal(failure)
            }
        self.init(reason)
    }

    init(helper failure: HelperFailure) {
        let reason: Reason =
            switch failure {
            case .notFound: .programNotFound
            case .otherVersion: .otherVersion
            case .died(let ending): .ended(ending)
            case .cannotStart(let failure), .notConfined(let failure), .system(let failure):
                .system(failure)
            }
        self.init(reason)
    }

    /// A system call failed in this process.
    package static func system(_ failure: SystemCallFailure) -> Self { Self(.system(failure)) }
}

extension PAMCheckFailure.Reason {
    /// Whether the program that runs the modules reports this failure; the process that started the
    /// program detects all other failures.
    var isReportedByModules: Bool {
        switch self {
        case .noServiceFile, .noUserName, .accountRefused, .failed: true
        case .timedOut, .cancelled, .noTerminal, .answerTooLong, .terminal, .ended, .talksTooMuch,
            .nonsense, .programNotFound, .otherVersion, .alreadyAsking, .system:
            false
        }
    }
}

extension PAMCheckFailure: Transferable {
    package func write(to output: FrameWriter) { output.append(reason, mayConcealAttempt) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(_:mayConcealAttempt:), from: bytes)
    }
}

extension PAMCheckFailure.Reason: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case timedOut, cancelled, noServiceFile, noTerminal, answerTooLong, terminal, noUserName
        case accountRefused, failed, ended, talksTooMuch, nonsense, programNotFound, otherVersion
        case system, alreadyAsking
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .timedOut: output.append(Kind.timedOut)
        case .cancelled: output.append(Kind.cancelled)
        case .noServiceFile: output.append(Kind.noServiceFile)
        case .noTerminal: output.append(Kind.noTerminal)
        case .answerTooLong: output.append(Kind.answerTooLong)
        case .terminal(let failure): output.append(Kind.terminal, failure)
        case .noUserName: output.append(Kind.noUserName)
        case .accountRefused(let failure): output.append(Kind.accountRefused, failure)
        case .failed(let failure): output.append(Kind.failed, failure)
        case .ended(let ending): output.append(Kind.ended, ending)
        case .talksTooMuch: output.append(Kind.talksTooMuch)
        case .nonsense: output.append(Kind.nonsense)
        case .programNotFound: output.append(Kind.programNotFound)
        case .otherVersion: output.append(Kind.otherVersion)
        case .alreadyAsking(let name): output.append(Kind.alreadyAsking, name)
        case .system(let failure): output.append(Kind.system, failure)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            case .noServiceFile: .noServiceFile
            case .noTerminal: .noTerminal
            case .answerTooLong: .answerTooLong
            case .terminal: try fields.make(Self.terminal, from: bytes)
            case .noUserName: .noUserName
            case .accountRefused: try fields.make(Self.accountRefused, from: bytes)
            case .failed: try fields.make(Self.failed, from: bytes)
            case .ended: try fields.make(Self.ended, from: bytes)
            case .talksTooMuch: .talksTooMuch
            case .nonsense: .nonsense
            case .programNotFound: .programNotFound
            case .otherVersion: .otherVersion
            case .alreadyAsking: try fields.make(Self.alreadyAsking, from: bytes)
            case .system: try fields.make(Self.system, from: bytes)
            }
    }
}

extension PAMCallFailure.Call: Transferable {}

extension PAMCallFailure: Transferable {
    package func write(to output: FrameWriter) { output.append(call, code) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        call = try fields.value(bytes)
        code = try fields.value(bytes)
    }
}
