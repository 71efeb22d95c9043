import POSIX
import PresenceDevices

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
            "PAM could not complete the check (\(failure.call.rawValue): \(failure.code)); "
                + "check that the device is connected"
        case .ended: "a PAM module exited before it returned a result"
        case .talksTooMuch: "a PAM module printed too much text"
        case .nonsense: "watchword-presence sent an invalid response"
        case .programNotFound:
            "watchword-presence is not installed beside watchword; reinstall Watchword"
        case .otherVersion:
            "watchword-presence and watchword have different versions; reinstall Watchword"
        case .system(let failure): sentence(for: failure)
        }
    }
}
