import Devices
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// A prompt on the terminal.
enum Question: Hashable, Sendable {
    case passphrase
    /// The passphrase again, for this purpose.
    case passphraseAgain(String)
    /// The passphrase of a different file of the vault, at this path.
    case otherPassphrase(String)
    case newPassphrase
    case newPassphraseAgain
    case key
    case keyOrURI
    case hexKey
    case name
    case plainSecret
    case recoveryKey
    /// The recovery key that was just printed.
    case shownRecoveryKey
    /// The recovery key again, for this purpose.
    case recoveryKeyAgain(String)
    /// The PIN of a device; with a purpose if the prompt is repeated.
    case pin(TokenKind, again: String?)
    /// A new PIN for the TPM.
    case newPIN
    case newPINAgain
    /// The password of a file, with the file's name and the name of its format.
    case exportPassword(file: String, format: String)
    /// A new password for a file in a format with this name.
    case newExportPassword(format: String)
    case newExportPasswordAgain(format: String)
    /// The treatment of an imported item whose name an entry already has.
    case duplicate(String)
    /// Whether to take these entries of a different file of the vault; the path comes first.
    case oldEdits(String, of: String)
    /// A notice that the vault or the entry is locked for this many seconds; the answer is
    /// discarded.
    case lockedOut(seconds: Int64)
    case confirmation(String)

    /// The text before the cursor.
    var prompt: String {
        switch self {
        case .passphrase: "Passphrase: "
        case .passphraseAgain(let purpose): purpose + ", enter the passphrase again: "
        case .otherPassphrase(let path): "Passphrase of \(path): "
        case .newPassphrase: "New passphrase: "
        case .newPassphraseAgain: "New passphrase again: "
        case .key: "Key (Base32): "
        case .keyOrURI: "Key (Base32) or otpauth:// URI: "
        case .hexKey: "Key (hexadecimal): "
        case .name: "Name (issuer:account): "
        case .plainSecret: "Secret: "
        case .recoveryKey: "Recovery key, as you wrote it down: "
        case .shownRecoveryKey: "Recovery key, as you wrote it down: "
        case .recoveryKeyAgain(let purpose): purpose + ", enter the recovery key again: "
        case .pin(let token, let purpose?):
            purpose + ", enter the PIN of the \(Messages.name(of: token)) again: "
        case .pin(let token, nil): "PIN of the \(Messages.name(of: token)): "
        case .newPIN: "New PIN for the TPM: "
        case .newPINAgain: "New PIN again: "
        case .exportPassword(let file, let format): "Password for \(file) (\(format)): "
        case .newExportPassword(let format): "New password for the \(format) export: "
        case .newExportPasswordAgain(let format): "New password for the \(format) export again: "
        case .duplicate(let name):
            "\(name): replace it, keep both, or skip the new one? [r/k/S; R/K/S for all] "
        case .oldEdits(let path, let names): "Take \(names) from \(path)? [y/N] "
        case .lockedOut(let seconds):
            "Locked for \(Messages.duration(seconds)); press Return to end the command: "
        case .confirmation(let question): question + " [y/N] "
        }
    }

    private var isShownWhileTyped: Bool {
        switch self {
        // The key is already on the screen.
        case .shownRecoveryKey, .confirmation, .duplicate, .oldEdits, .name: true
        case .passphrase, .passphraseAgain, .newPassphrase, .newPassphraseAgain, .key, .keyOrURI,
            .hexKey, .plainSecret, .recoveryKey, .recoveryKeyAgain, .pin, .newPIN, .newPINAgain,
            .otherPassphrase, .exportPassword, .newExportPassword, .newExportPasswordAgain,
            .lockedOut:
            false
        }
    }

    /// The maximum length of an answer: the kernel's limit for a line.
    private static let limit = 4096

    /// Prompts on the terminal, even if standard input is redirected.
    func ask() throws -> SecretBytes {
        guard let answer = try ask(unless: nil) else {
            preconditionFailure("only an answer ends the prompt")
        }
        return answer
    }

    /// Prompts like ``ask()``, but only until `end` becomes ready.
    ///
    /// - Returns: `nil` if the answer is no longer needed.
    func ask(unless end: Polling.Interest?) throws -> SecretBytes? {
        var outcome = Terminal.PromptOutcome.timedOut
        let answer: SecretBytes
        do {
            let terminal = try Terminal()
            answer = try SecretBytes(capacity: Question.limit) { (output) throws(TerminalError) in
                outcome = try terminal.ask(
                    Terminal.Prompt(prompt, isEchoed: isShownWhileTyped, unless: end),
                    into: &output)
            }
        } catch {
            throw CommandFailure.terminal(error, asking: self)
        }
        if case .answered = outcome { return answer }
        return nil
    }

    /// Asks a yes-or-no question; anything but `y` or `yes` cancels the command.
    static func confirm(_ question: String) throws {
        guard try Question.confirmation(question).isAffirmed() else {
            throw CommandFailure.declined
        }
    }

    /// Whether the answer to this yes-or-no question is yes.
    func isAffirmed() throws -> Bool {
        try ask().withBytes { bytes in
            // The answer is not secret.
            let word = bytes.indices.map { bytes[$0] | 0x20 }
            return word == Array("y".utf8) || word == Array("yes".utf8)
        }
    }
}

/// Shows the messages of PAM modules, which the agent passes on, and answers the questions of the
/// modules and the TPM.
final class RelayedQuestions {
    /// The reason why a module's question was not answered.
    private var failure: PAMCheckFailure.Reason?
    /// The reason why a TPM got no PIN.
    private(set) var failureOfPIN: (any Error)?

    private let terminal: ModuleTerminal
    /// Becomes ready when the answer to a question is no longer needed.
    private let end: Polling.Interest?
    private let session: Session

    /// Equal to the modules' own timeout.
    private static let timeout = Duration.seconds(60)

    init(purpose: String, until end: Polling.Interest?, session: Session) {
        terminal = ModuleTerminal(purpose: purpose, until: .now + RelayedQuestions.timeout)
        self.end = end
        self.session = session
    }

    /// Shows a message, or asks a question.
    ///
    /// - Returns: the request with the answer.
    func answer(_ message: AgentResponse) -> AgentRequest? {
        do throws(PAMCheckFailure) {
            switch message {
            case .says(let text):
                try terminal.show(text)
                return nil
            case .asks(let text, let isEchoed): return try ask(text, isEchoed: isEchoed)
            case .asksPIN(let isRepeated, let left):
                return askPIN(isRepeated: isRepeated, left: left)
            default: return nil
            }
        } catch {
            failure = error.reason
            return .cancel
        }
    }

    /// The failure of a check, with the reason of this process if known.
    func explained(_ failure: PAMCheckFailure) -> PAMCheckFailure {
        PAMCheckFailure(
            self.failure ?? failure.reason, mayConcealAttempt: failure.mayConcealAttempt)
    }

    private func ask(
        _ text: String, isEchoed: Bool
    ) throws(PAMCheckFailure) -> AgentRequest? {
        var outcome = Terminal.PromptOutcome.timedOut
        // One more byte for the line ending, which is removed.
        let answer = try SecretBytes(capacity: ModuleRelay.longestAnswer + 1) {
            output throws(PAMCheckFailure) in
            outcome = try terminal.ask(text, isEchoed: isEchoed, unless: end, into: &output)
        }
        switch outcome {
        case .answered: return .answer(answer)
        case .timedOut: throw PAMCheckFailure(.timedOut)
        // The modules no longer waited for the answer.
        case .overtaken: return nil
        }
    }

    private func askPIN(isRepeated: Bool, left: UInt64?) -> AgentRequest? {
        var person = TokenPerson(session: session, token: .tpm, purpose: nil, unless: end)
        let pin = person.pin(isRepeated: isRepeated, left: left.map { UInt32(clamping: $0) })
        failureOfPIN = person.failure
        // The answer was no longer needed.
        if person.wasOvertaken { return nil }
        return pin.map(AgentRequest.answer) ?? .cancel
    }
}
