internal import WatchwordSystem

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
