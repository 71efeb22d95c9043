import POSIX
import PresenceDevices

// What the system's own modules (PAM) say to who is there.
extension Words {
    static func sentence(for failure: PAMCheckFailure) -> String {
        switch failure.reason {
        case .timedOut: "nobody answered in time; nothing was done"
        case .cancelled: "broken off; nothing was done"
        case .noServiceFile:
            "the system has no modules for this: there is no /etc/pam.d/\(PAMService.name)"
        case .noTerminal:
            "the system's modules ask something, and there is no terminal to ask on"
        case .answerTooLong: "the answer is too long; at most 512 bytes are taken"
        case .terminal(let failure): "the terminal: " + sentence(for: failure)
        case .noUserName: "the system has no name for the user who runs this"
        case .accountRefused: "it is you, but your account is locked or has expired"
        case .failed(let failure):
            "the system's modules could not tell; is the device there? "
                + "(\(failure.call.rawValue): \(failure.code))"
        case .ended: "a module of the system's broke down before it said yes or no"
        case .talksTooMuch: "a module of the system's says more than anybody would read"
        case .nonsense: "watchword-presence gave no proper answer"
        case .programNotFound:
            "watchword-presence, which asks the system, is not beside watchword; install it again"
        case .otherVersion: "watchword-presence is of another version; install both again"
        case .system(let failure): sentence(for: failure)
        }
    }
}
