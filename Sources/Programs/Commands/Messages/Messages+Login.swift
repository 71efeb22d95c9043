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
            "the enrolment was stored by another version of Watchword; enrol the device again"
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
                "because two holders used it (unless you copied it, somebody has stolen it)"
            case .tooManyFailures: "because the server received too many wrong \(noun)s"
            case .accountClosed: "because the account is closed"
            }
        return "the \(noun) was wiped \(why); sign in another way, then enrol the device again"
    }

    private static func sentence(for problem: HelperResponse.Problem) -> String {
        if problem.type.text == sentBefore {
            return
                "the ticket was already sent with another --device-name; use that name again, or "
                + "request another ticket"
        }
        let type = problem.type.text.isEmpty ? "" : " (\(problem.type.text))"
        let wait = problem.retryAfter > 0 ? "; try again in \(problem.retryAfter) s" : ""
        let what =
            switch problem.status {
            case 300..<400: "the server sent a redirect, which is not followed"
            case 429: "the server received too many requests"
            case 500...: "the server failed"
            default: "the server refused the request"
            }
        return "\(what): status \(problem.status)\(type)\(wait)"
    }

    /// The server's problem type for a repeated request with different content; only the device's
    /// name can differ.
    private static let sentBefore = "urn:watchword:problem:idempotency-key-reused"

    static func sentence(for failure: HTTPHelperFailure) -> String {
        switch failure {
        case .helper(let failure):
            HelperMessages.sentence(
                for: failure, of: "watchword-courier", startedBy: Verb.program,
                unconfined: "nothing was sent")
        case .library(let code): "libcurl failed (\(code))"
        case .unknownHost: "unknown host; check the URL and the network"
        case .notLoopback: "plain HTTP is allowed only for a server on this machine; use https://"
        case .unreachable(let failure): "cannot connect to the server: " + sentence(for: failure)
        case .timedOut: "the server did not respond in time; try again"
        case .connectionLost: "the connection was lost; try again"
        case .certificate(let fault):
            "the server's certificate \(describe(fault)); nothing was sent"
        case .handshake: "the server does not support TLS 1.2 or later"
        case .authorities: "no certificate authorities found; use --ca-file"
        case .badResponse:
            "the response is invalid; check that the URL belongs to a Watchword server"
        case .tooLarge: "the server's response is too large"
        }
    }

    private static func describe(_ fault: HTTPHelperFailure.CertificateFault) -> String {
        switch fault {
        case .unknownAuthority: "is signed by an unknown authority"
        case .expired: "has expired"
        case .notYetValid: "is not valid yet (check the clock)"
        case .otherHost: "is for another host"
        case .other: "is not trusted"
        }
    }

    /// The valid form of a server's URL.
    static func expectation(of part: ServerAddress.Part) -> String {
        switch part {
        case .scheme: "a URL that begins with https://"
        case .plain: "an https:// URL; http:// is allowed only for a server on this machine"
        case .host: "a URL with an ASCII host name"
        case .port: "a URL with a port from 1 to 65535"
        case .path: "a URL without a query, and without escapes or empty parts in its path"
        case .length: "a URL of at most 512 bytes"
        }
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

    /// The exit status for a request that was not answered.
    init(_ failure: HTTPHelperFailure) {
        if case .authorities = failure { self = .badInput } else { self = .system }
    }
}
