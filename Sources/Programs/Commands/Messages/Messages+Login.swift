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
        case .badTicket:
            "the first line is not an enrolment ticket, which begins with wwt_; nothing was sent; copy the "
                + "whole ticket, or request a new one"
        case .alreadyEnrolled(let name):
            "this ticket has already enrolled “\(VisibleText.of(name))”; use that entry, or request a new "
                + "ticket"
        case .vault(let error): sentence(for: error)
        case .helper(let failure, let server): courier(at: server).sentence(for: failure)
        case .problem(let problem, let server): courier(at: server).sentence(for: problem)
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

    /// - Parameter noun: the secret or key that was wiped.
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

    /// The messages about requests to `server`, whose authorities an enrolment stores.
    static func courier(at server: ServerAddress?) -> CourierMessages {
        CourierMessages(
            about: server, startedBy: Verb.program, trusting: "enrol with --ca-file FILE")
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
            case .helper(let failure, _): ExitCode(failure)
            case .vault(let error): ExitCode(error)
            case .problem(let problem, _): problem.isTransient ? .system : .refused
            case .denied, .wipeNotObeyed: .refused
            case .wiped(.failures): .presence
            case .wiped: .refused
            case .token(let failure): ExitCode(failure)
            case .unexpectedResponse, .cryptography: .system
            }
    }
}
