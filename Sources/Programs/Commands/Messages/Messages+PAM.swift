import Devices
import WatchwordSystem

// Presence checks through PAM.
extension Messages {
    static func sentence(for failure: PAMCheckFailure) -> String {
        switch failure.reason {
        case .timedOut: "no answer in time; nothing was changed"
        case .cancelled: "cancelled; nothing was changed"
        case .noServiceFile:
            "PAM is not configured (there is no /etc/pam.d/\(PAMService.name))"
        case .noTerminal: "PAM needs a terminal to prompt on"
        case .answerTooLong: "the answer is too long; the limit is 512 bytes"
        case .terminal(let failure): "the terminal: " + sentence(for: failure)
        case .noUserName: "the current user has no user name on this system"
        case .accountRefused: "the check passed, but your account is locked or has expired"
        case .failed(let failure):
            "PAM could not complete the check: " + sentence(for: failure)
        case .ended: "a PAM module exited before it returned a result"
        case .talksTooMuch: "a PAM module printed too much text"
        case .nonsense: "watchword-presence sent an invalid response"
        case .programNotFound:
            "watchword-presence is not installed beside watchword; reinstall Watchword"
        case .otherVersion:
            "watchword-presence and watchword have different versions; reinstall Watchword"
        case .alreadyAsking(let name):
            "another program is already asking you to confirm a use of “\(VisibleText.of(name))”; if "
                + "you did not start it, answer and touch nothing, and run watchword lock --all, which "
                + "ends its check"
        case .system(let failure): sentence(for: failure)
        }
    }

    private static func sentence(for failure: PAMCallFailure) -> String {
        switch failure.cause {
        case .moduleNotLoaded:
            "a module could not be loaded; check /etc/pam.d/\(PAMService.name), and that the "
                + "module's package is installed"
        case .moduleFailed: "a module failed; see the system log"
        case .notPermitted: "a module has no permission to read what it needs; see the system log"
        case .unavailable:
            "a device or service that the check needs is not available; check that it is connected and set up"
        case .passwordExpired: "your password has expired; change it with passwd"
        case .promptFailed: "a module could not ask its question; try again"
        case .gaveUp: "a module ended the check; try again"
        case .other: "an unknown error (number \(failure.code)); see the system log"
        }
    }
}
