import Courier
import DeviceLogin
import POSIX
import SecretVault

// Signing in with an enrolled secret.
extension Words {
    static func sentence(for error: DeviceLoginError) -> String {
        switch error {
        case .otherKind: "this is no enrolled secret; see watchword login enrol"
        case .unreadable: "what the vault holds of the enrolment was written by another version"
        case .badTicket: "this is no enrolment ticket; it is a line like wwt_…"
        case .vault(let error): sentence(for: error)
        case .courier(let failure): sentence(for: failure)
        case .problem(let problem): sentence(for: problem)
        case .denied:
            "the server does not accept the secret; it stays as it is. Try again, or enrol the "
                + "device anew"
        case .wipeNotObeyed:
            "the server does not accept the secret, and asks to wipe it for a reason that is none; "
                + "the secret stays"
        case .wiped(let reason): sentence(forWiped: reason)
        case .senseless: "the server's answer makes no sense; the secret stays as it is"
        case .cryptography(let failure): sentence(for: failure)
        }
    }

    private static func sentence(forWiped reason: Tombstone.Reason) -> String {
        let why =
            switch reason {
            case .failures: "proving your presence failed too often"
            case .revoked: "the server has revoked it"
            case .reuseDetected:
                "the server saw it used by two holders; if that was not a copy of your own, "
                    + "somebody has it"
            case .tooManyFailures: "the server was shown too many wrong secrets"
            case .accountClosed: "the server says that the account is closed"
            }
        return "the secret was wiped: \(why). Sign in otherwise, and enrol the device anew"
    }

    private static func sentence(for problem: CourierAnswer.Problem) -> String {
        if problem.type.text == sentBefore {
            return
                "the ticket was sent before, with another --device-name, and brings its secret with that "
                + "one only; repeat it so, or ask for another ticket"
        }
        let type = problem.type.text.isEmpty ? "" : " (\(problem.type.text))"
        let wait = problem.retryAfter > 0 ? "; try again in \(problem.retryAfter) s" : ""
        let what =
            switch problem.status {
            case 300..<400: "the server points somewhere else, where nothing is sent"
            case 429: "the server received too many requests"
            case 500...: "the server has a problem of its own"
            default: "the server refuses"
            }
        return "\(what): status \(problem.status)\(type)\(wait)"
    }

    /// What the server says of a request that came before with something else in it; the device's name is
    /// all that can differ.
    private static let sentBefore = "urn:watchword:problem:idempotency-key-reused"

    static func sentence(for failure: CourierFailure) -> String {
        switch failure {
        case .notFound:
            "watchword-courier, which talks to servers, is not installed beside watchword"
        case .cannotStart(let failure):
            "watchword-courier does not start: " + sentence(for: failure)
        case .notConfined(let failure):
            "watchword-courier could not be confined, and asked nothing: " + sentence(for: failure)
        case .otherVersion: "watchword-courier is of another version than watchword"
        case .died(let ending): "watchword-courier ended without a word (\(describe(ending)))"
        case .system(let failure): sentence(for: failure)
        case .library(let code): "libcurl could not do its work (\(code))"
        case .unknownHost: "there is no server of this name; is the network up?"
        case .notLoopback: "plain HTTP is spoken with this machine only; use https://"
        case .unreachable(let failure): "the server can't be reached: " + sentence(for: failure)
        case .timedOut: "the server takes too long; try again"
        case .connectionLost: "the connection broke; try again"
        case .certificate(let fault):
            "the server's certificate \(describe(fault)); nothing was sent"
        case .handshake: "the server does not speak TLS 1.2 or newer"
        case .authorities: "there are no certificates of authorities to go by; see --ca-file"
        case .badAnswer: "what answered is no Watchword server, or a faulty one"
        case .tooLarge: "the server's answer is longer than any that makes sense"
        }
    }

    private static func describe(_ fault: CourierFailure.CertificateFault) -> String {
        switch fault {
        case .unknownAuthority: "is vouched for by nobody that is trusted"
        case .expired: "has expired"
        case .notYetValid: "is not valid yet (is the clock right?)"
        case .otherHost: "is another host's"
        case .other: "is not to be trusted"
        }
    }

    private static func describe(_ ending: ChildProcess.Ending) -> String {
        switch ending {
        case .exited(let status): "status \(status)"
        case .crashed(let signal): "signal \(signal)"
        case .forbiddenCall: "a system call that it may not make"
        case .processorTimeSpent: "all its processor time used up"
        case .killed: "killed"
        case .unknown: "nobody knows how"
        }
    }

    /// What an address of a server should have been.
    static func expectation(of error: ServerAddressError) -> String {
        switch error {
        case .scheme: "an address that begins with https://"
        case .plain: "an https:// address; http:// is allowed for this machine only"
        case .host: "an address with an ASCII host name"
        case .port: "an address with a port from 1 to 65535"
        case .path: "an address with a path of plain names"
        case .length: "an address of at most 512 bytes"
        }
    }
}

extension ExitCode {
    /// The status that tells of a sign-in that did not come about.
    init(_ error: DeviceLoginError) {
        self =
            switch error {
            case .otherKind: .no
            case .unreadable, .badTicket, .courier(.authorities): .badInput
            case .vault(let error): ExitCode(error)
            case .problem(let problem): problem.isPassing ? .system : .refused
            case .denied, .wipeNotObeyed: .refused
            case .wiped(.failures): .presence
            case .wiped: .refused
            case .courier, .senseless, .cryptography: .system
            }
    }
}
