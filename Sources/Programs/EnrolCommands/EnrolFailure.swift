import CommandLineInterface
import LocalEnrolment
import QRDrawing
import WatchwordSystem

/// The reason why a command failed.
enum EnrolFailure: ProgramFailure {
    /// The socket at this path cannot be used.
    case socket(String, SystemCallFailure)
    /// Users other than root could have made the socket at this path.
    case notTheServer(String)
    case refused(TaskRefusal)
    case terminal(TerminalError)
    /// A question was not answered in time.
    case noAnswer
    case standardOutput(SystemCallFailure)

    /// Every kind of error that a command throws, with its message and its exit status.
    static func report(on error: any Error) -> FailureReport {
        switch error {
        case let failure as EnrolFailure:
            FailureReport(EnrolMessages.sentence(for: failure), ExitCode(failure))
        case let error as UsageError:
            FailureReport(error.sentence(program: EnrolVerb.program), .usage)
        case let failure as SystemCallFailure:
            FailureReport(HelperMessages.sentence(for: failure), .system)
        default: FailureReport(unexpected: error)
        }
    }
}

extension ExitCode {
    fileprivate init(_ failure: EnrolFailure) {
        self =
            switch failure {
            case .refused(.unknownCredential): .no
            case .refused(.denied), .refused(.notConfirmed), .refused(.mustWait), .terminal,
                .noAnswer:
                .presence
            case .refused(.notEnrolled), .refused(.needsTicket), .refused(.noPasswordCheck),
                .refused(.tooMany), .refused(.noRecoveryCodes), .refused(.lastAuthenticator):
                .refused
            case .refused(.otherVersion), .refused(.busy), .refused(.noName),
                .refused(.unavailable), .socket, .notTheServer, .standardOutput:
                .system
            }
    }
}

/// The messages; none contains a secret.
enum EnrolMessages {
    static func sentence(for failure: EnrolFailure) -> String {
        switch failure {
        case .socket(let path, let failure) where failure.isNobodyListening:
            "\(path): no server listens there; the administrator has to start watchword-server and "
                + "enable watchword-enrol.socket"
        case .socket(let path, let failure) where failure.isConnectionLost:
            "\(path): the server ended the conversation; try again"
        case .socket(let path, let failure):
            "\(path): " + HelperMessages.sentence(for: failure)
        case .notTheServer(let path):
            "\(path): users other than root can create a socket there, so somebody else may be "
                + "listening; the folder must belong to root"
        case .refused(let refusal): sentence(for: refusal)
        case .terminal(.none): "no terminal to prompt on; run the command on a terminal"
        case .terminal(.ended), .terminal(.interrupted): "no answer; nothing was changed"
        case .terminal(.tooLong): "the answer is too long"
        case .terminal(.system(let failure)):
            "the terminal: " + HelperMessages.sentence(for: failure)
        case .noAnswer: "no answer in time; nothing was changed"
        case .standardOutput(let failure):
            "standard output: " + HelperMessages.sentence(for: failure)
        }
    }

    static func sentence(for error: QRDrawingError) -> String {
        switch error {
        case .libraryMissing(let name): "no QR code is shown, because \(name) is not installed"
        case .empty, .tooLong, .encodingFailed, .noMemoryForPicture:
            "no QR code is shown, because libqrencode failed"
        }
    }

    /// The text before the cursor.
    ///
    /// - Parameter isRepeated: whether the last answer was denied.
    static func prompt(for question: EnrolmentQuestion, isRepeated: Bool) -> String {
        let denial = isRepeated ? "Not accepted. " : ""
        return switch question {
        case .code where isRepeated:
            denial + "Each code is accepted once. A different code, or a recovery code: "
        case .code: "Code of an authenticator that you have, or a recovery code: "
        case .ticket: denial + "Ticket from the administrator: "
        case .firstCode: denial + "Code that the app shows now: "
        }
    }

    private static func sentence(for refusal: TaskRefusal) -> String {
        switch refusal {
        case .otherVersion:
            "watchword-enrol and watchword-server have different versions; if Watchword was just "
                + "updated, the administrator has to restart the server"
        case .busy: "too many programs are enrolling now; end the others, or try again later"
        case .noName: "your user ID has no name on this system"
        case .denied: "not accepted; nothing was changed"
        case .notConfirmed:
            "no first code was accepted, so the authenticator is not enrolled; start again, with a new "
                + "ticket if you used one"
        case .notEnrolled: "you have no authenticator yet; watchword-enrol add adds one"
        case .mustWait(let seconds):
            "too many attempts in a short time; try again in \(seconds) seconds"
        case .needsTicket:
            "you have or had a second factor already, so the password is not enough; use a code of that "
                + "factor, or ask the administrator for a ticket, and use watchword-enrol add --ticket"
        case .noPasswordCheck:
            "the system cannot check your login password here; ask the administrator for a ticket, and "
                + "use watchword-enrol add --ticket"
        case .tooMany: "you have as many credentials as the server allows; remove one first"
        case .noRecoveryCodes:
            "the authenticator is enrolled, but no recovery codes were issued; run watchword-enrol "
                + "recovery-codes"
        case .unknownCredential: "you have no credential with this ID; see watchword-enrol list"
        case .lastAuthenticator:
            "this is your last authenticator; add a new authenticator first, or ask the administrator"
        case .unavailable: "the server could not decide; try again, or see its log"
        }
    }
}
