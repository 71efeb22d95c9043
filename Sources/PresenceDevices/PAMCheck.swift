internal import POSIX
public import Presence

/// Asks the system's own modules, those of the PAM service `watchword`, whether the user is here: by
/// password, fingerprint, face or security key, whatever the administrator named in the service file.
///
/// The modules run in `watchword-presence`, a process of its own; what they say is shown, and what they ask
/// is asked, on the terminal. Their yes is advisory: whoever controls the machine can have any.
///
/// It must be used from one thread, which must live as long: the kernel ends the process with it.
public struct PAMCheck: PresenceCheck {
    /// A yes comes from the system, and yields no key.
    public typealias Grade = Advisory

    private let path: String?
    private let timeout: Duration

    /// Names the program that runs the modules.
    ///
    /// - Parameters:
    ///   - path: The program; by default the one beside the running program, or else where it is
    ///     installed for it (`../libexec/watchword/`).
    ///   - timeout: How long everything together may take.
    public init(path: String? = nil, timeout: Duration = .seconds(60)) {
        self.path = path
        self.timeout = timeout
    }

    /// Asks once; `purpose` is shown before the first thing that a module says.
    ///
    /// - Throws: ``PAMCheckFailure``; the program and what it started are gone by then, and the terminal is
    ///   as it was.
    public func isPresent(for purpose: String) throws(PAMCheckFailure) -> Bool {
        let conversation: ModuleConversation
        do throws(PAMCheckFailure.Reason) {
            guard let path = path ?? PAMCheck.installedPath() else { throw .programNotFound }
            conversation = try ModuleConversation(
                running: path, purpose: purpose, until: .now + timeout)
        } catch {
            throw PAMCheckFailure(reason: error, mayHideAttempt: false)
        }
        do throws(PAMCheckFailure.Reason) {
            return try conversation.verdict()
        } catch {
            throw PAMCheckFailure(
                reason: error, mayHideAttempt: conversation.mayHaveBeenAttempted)
        }
    }

    private static func installedPath() -> String? {
        RunningProgram.companion("watchword-presence")
    }
}
