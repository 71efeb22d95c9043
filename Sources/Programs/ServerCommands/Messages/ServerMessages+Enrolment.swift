import Devices
import LocalEnrolment
import LocalSockets
import Verification
import WatchwordSystem

// Enrolments by users of this machine.
extension ServerMessages {
    static let noAddress = "the user's name is not part of a mail address"

    static func noticeSubject(realm: Realm) -> String {
        "Your second factors on \(realm.text) were changed"
    }

    /// The notice to a user about a change.
    static func notice(
        about change: OwnChange, to account: String, in realm: Realm, at time: UnixTime
    ) -> String {
        let what =
            switch change {
            case .added(let name): "An authenticator\(quoted(name)) was added to"
            case .removed(let name): "An authenticator\(quoted(name)) was removed from"
            case .recoveryCodes: "New recovery codes were issued for"
            }
        return """
            \(what) your account \(account) on \(realm.text)
            at \(time.text), with watchword-enrol.

            If this was not you, tell the administrator at once.
            """
    }

    private static func quoted(_ name: String) -> String {
        name.isEmpty ? "" : " “\(name.visibleOnTerminal)”"
    }

    /// The sentence for a login password that the service at `path` could not check.
    static func sentence(for failure: PAMCheckFailure, at path: String) -> String {
        switch failure.reason {
        case .programNotFound:
            "\(path): nothing listens there, so users need tickets; start watchword-presence.socket"
        case .noServiceFile:
            "there is no /etc/pam.d/\(PAMService.enrolment), so users need tickets"
        case .noUserName: "a user ID has no name on this system"
        case .accountRefused: "a user's account is locked or has expired"
        case .failed(let failure):
            "\(failure.call.rawValue) failed (\(failure.code)); check /etc/pam.d/\(PAMService.enrolment), "
                + "and see the system log"
        case .timedOut: "watchword-presence took too long"
        case .system(let failure): "\(path): " + sentence(for: failure)
        case .cancelled, .noTerminal, .answerTooLong, .terminal, .ended, .talksTooMuch, .nonsense,
            .otherVersion, .alreadyAsking:
            "\(path): watchword-presence ended without a verdict; see the system log"
        }
    }
}
