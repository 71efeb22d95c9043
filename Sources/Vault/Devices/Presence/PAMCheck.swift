public import WatchwordSystem

/// Asks the system's modules, those of the PAM service `watchword`, whether the user is present: by
/// password, fingerprint, face or security key, depending on what the administrator configured in
/// the service file.
///
/// The modules run in `watchword-presence`, a separate process. Their messages and questions appear
/// on the terminal. Their verdict is advisory: anyone who controls the machine can fake it.
///
/// It must be used from one thread, which must outlive it: the kernel kills the process when that
/// thread ends.
public struct PAMCheck: PresenceCheck {
    /// A positive verdict comes from the system and yields no key.
    public typealias Grade = Advisory

    private let path: String?
    private let timeout: Duration

    /// Sets the program that runs the modules.
    ///
    /// - Parameters:
    ///   - path: The program; by default the one beside the running program, or else where an
    ///     installation puts it (`../libexec/watchword/`).
    ///   - timeout: How long the whole check may take.
    public init(path: String? = nil, timeout: Duration = .seconds(60)) {
        self.path = path
        self.timeout = timeout
    }

    /// Asks once; `purpose` is shown before a module's first message.
    ///
    /// - Throws: ``PAMCheckFailure``; by then, the program and the programs that it started have
    ///   been killed, and the terminal has been restored.
    public func isPresent(for purpose: String) throws(PAMCheckFailure) -> Bool {
        let conversation: ModuleConversation
        do throws(PAMCheckFailure.Reason) {
            guard let path = path ?? RunningProgram.companion("watchword-presence") else {
                throw .programNotFound
            }
            conversation = try ModuleConversation(
                running: path, purpose: purpose, until: .now + timeout)
        } catch {
            throw PAMCheckFailure(reason: error, mayConcealAttempt: false)
        }
        do throws(PAMCheckFailure.Reason) {
            return try conversation.verdict()
        } catch {
            throw PAMCheckFailure(
                reason: error, mayConcealAttempt: conversation.mayHaveBeenAttempted)
        }
    }
}

/// The PAM service that Watchword uses.
public enum PAMService {
    /// The name of the service file.
    public static let name = "watchword"
    /// Where Linux-PAM looks for the service file: the administrator's folder, then the packages'
    /// folder.
    public static let folders = ["/etc/pam.d", "/usr/lib/pam.d"]

    /// Whether an administrator or a package has configured the modules.
    ///
    /// Without this file, Linux-PAM would ask the modules of the service `other`, which nobody
    /// chose for this purpose.
    public static func isInstalled(in folders: [String] = folders) -> Bool {
        folders.contains { folder in
            // A file that cannot be inspected cannot be read either.
            do { return try FileKind(at: "\(folder)/\(name)", following: true) == .file } catch {
                return false
            }
        }
    }
}

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
