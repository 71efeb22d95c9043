import Cryptography
import POSIX

/// What the person at the terminal is asked.
enum Question: Hashable, Sendable {
    case passphrase
    /// The passphrase once more, and what for.
    case passphraseAgain(String)
    case newPassphrase
    case newPassphraseAgain
    case key
    case plainSecret
    case recoveryKey
    /// The recovery key that was just shown.
    case shownRecoveryKey
    /// The recovery key once more, and what for.
    case recoveryKeyAgain(String)
    /// A question to be answered with yes or no.
    case confirmation(String)

    /// What stands before the cursor.
    var prompt: String {
        switch self {
        case .passphrase: "Passphrase: "
        case .passphraseAgain(let purpose): purpose + ", the passphrase again: "
        case .newPassphrase: "New passphrase: "
        case .newPassphraseAgain: "New passphrase again: "
        case .key: "Key (Base32): "
        case .plainSecret: "Secret: "
        case .recoveryKey: "Recovery key (it is not shown), as you wrote it down: "
        case .shownRecoveryKey: "Recovery key, as you wrote it down: "
        case .recoveryKeyAgain(let purpose): purpose + ", the recovery key again: "
        case .confirmation(let question): question + " [y/N] "
        }
    }

    private var isShownWhileTyped: Bool {
        switch self {
        // This one is on the screen anyway.
        case .shownRecoveryKey, .confirmation: true
        case .passphrase, .passphraseAgain, .newPassphrase, .newPassphraseAgain, .key, .plainSecret,
            .recoveryKey, .recoveryKeyAgain:
            false
        }
    }

    /// The most bytes of an answer; the kernel's own limit for a line.
    private static let limit = 4096

    /// Asks on the terminal, whatever standard input is.
    func ask() throws(CommandFailure) -> SecretBytes {
        do {
            let terminal = try Terminal()
            return try SecretBytes(capacity: Question.limit) { (output) throws(TerminalError) in
                try terminal.ask(prompt, echo: isShownWhileTyped, into: &output)
            }
        } catch {
            throw .terminal(error, asking: self)
        }
    }

    /// Asks a question of yes or no; anything but `y` or `yes` is no.
    static func confirm(_ question: String) throws(CommandFailure) {
        let answer = try Question.confirmation(question).ask()
        let isYes = answer.withBytes { bytes in
            // The answer to a question is no secret.
            let word = bytes.indices.map { bytes[$0] | 0x20 }
            return word == Array("y".utf8) || word == Array("yes".utf8)
        }
        guard isYes else { throw .declined }
    }
}
