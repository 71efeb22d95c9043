import CommandLineInterface
import Courier
import DeviceLogin
import SecretVault
import WatchwordSystem

// Signing in with an enrolled secret.
extension Messages {
    static func sentence(for error: DeviceLoginError) -> String {
        switch error {
        case .otherKind: "not an enrolled secret; see watchword login enrol --help"
        case .deviceKey: "a device key, not an enrolled secret; use watchword key"
        case .unregistered, .otherPlace, .adoptedElsewhere, .otherTPM:
            sentence(forKey: error)
        case .unreadable:
            "the enrolment was stored by a different version of Watchword; enrol the device again"
        case .stale:
            "the secret is older than the last one presented from this folder, so an older vault was "
                + "restored; nothing was sent, because the server would treat the secret as stolen; "
                + "restore the newer vault, or enrol the device again"
        case .badTicket: "not an enrolment ticket; a ticket begins with wwt_"
        case .alreadyEnrolled(let name):
            "this ticket has already enrolled “\(VisibleText.of(name))”; use that entry, or request another "
                + "ticket"
        case .vault(let error): sentence(for: error)
        case .helper(let failure): sentence(for: failure)
        case .problem(let problem): sentence(for: problem)
        case .denied:
            "the server rejected the secret, which was kept; try again, or enrol the device again"
        case .wipeNotObeyed:
            "the server rejected the secret and ordered a wipe without a valid reason; the secret "
                + "was kept"
        case .wiped(let reason): sentence(forWiped: reason)
        case .unexpectedResponse: "the server sent an invalid response; the secret was kept"
        case .token(let failure): sentence(for: failure, of: .tpm)
        case .cryptography(let failure): sentence(for: failure)
        }
    }

    /// - Parameter noun: what was wiped.
    static func sentence(
        forWiped reason: Tombstone.Reason, _ noun: String = "secret"
    ) -> String {
        let why =
            switch reason {
            case .failures: "after too many failures"
            case .revoked: "because the server revoked it"
            case .reuseDetected:
                "because its reuse was detected (unless you copied it, somebody has stolen it)"
            case .tooManyFailures: "because the server received too many wrong \(noun)s"
            case .accountClosed: "because the account is closed"
            }
        return "the \(noun) was wiped \(why); sign in another way, then enrol the device again"
    }

    private static func sentence(for problem: HelperResponse.Problem) -> String {
        if problem.type.text == sentBefore {
            return
                "the ticket was already sent with a different --device-name or --this-device; use the same "
                + "options again, or request another ticket"
        }
        return CourierMessages.sentence(for: problem)
    }

    /// The server's problem type for a repeated request with different content: the device's name
    /// or how it keeps the secret.
    private static let sentBefore = "urn:watchword:problem:idempotency-key-reused"

    static func sentence(for failure: HTTPHelperFailure) -> String {
        CourierMessages.sentence(for: failure, startedBy: Verb.program)
    }
}

extension ExitCode {
    /// The exit status for a failed login.
    init(_ error: DeviceLoginError) {
        self =
            switch error {
            case .otherKind, .deviceKey, .alreadyEnrolled: .no
            case .unreadable, .stale, .badTicket, .unregistered, .otherPlace, .adoptedElsewhere,
                .otherTPM:
                .badInput
            case .helper(let failure): ExitCode(failure)
            case .vault(let error): ExitCode(error)
            case .problem(let problem): problem.isTransient ? .system : .refused
            case .denied, .wipeNotObeyed: .refused
            case .wiped(.failures): .presence
            case .wiped: .refused
            case .token(let failure): ExitCode(failure)
            case .unexpectedResponse, .cryptography: .system
            }
    }
}
