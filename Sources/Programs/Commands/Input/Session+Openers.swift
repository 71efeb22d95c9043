import CommandLineInterface
import SecretVault
import WatchwordCryptography
import WatchwordSystem

extension Session {
    /// Whether the options select the recovery key.
    var isOpenedByRecoveryKey: Bool {
        arguments.has(.recoveryKey) || arguments.has(.recoveryKeyFile)
    }

    /// The file with the passphrase: `--passphrase-file`, or `$WATCHWORD_PASSPHRASE_FILE` unless
    /// the options select the recovery key.
    var passphraseFile: String? {
        isOpenedByRecoveryKey ? nil : arguments[.passphraseFile]
    }

    /// The passphrase or recovery key, from a file or a prompt.
    ///
    /// - Parameters:
    ///   - purpose: The reason for a repeated prompt; `nil` the first time.
    ///   - slots: The ways to open the vault; without a passphrase among them, the prompt is for
    ///     the recovery key.
    func opener(again purpose: String? = nil, slots: [SlotSummary]) throws -> VaultOpener {
        try arguments.forbid(.recoveryKey, .recoveryKeyFile, .unlockWith)
        // The environment only sets a default.
        if arguments.given(.passphraseFile) != nil {
            try arguments.forbid(.passphraseFile, .recoveryKey, .recoveryKeyFile, .unlockWith)
        }
        if arguments.has(.recoveryKey) { return .recoveryKey(try typedRecoveryKey(again: purpose)) }
        if let path = arguments[.recoveryKeyFile] {
            if purpose == nil { warnAboutReaders(of: path) }
            let source = SecretSource(path)
            let text = try source.readFirstLine(limit: Session.secretLimit)
            return .recoveryKey(
                try CommandFailure.naming(visible: source.name) { try RecoveryKey(parsing: text) })
        }
        guard slots.contains(where: \.isPassphrase) else {
            guard passphraseFile == nil else { throw CommandFailure.noPassphrase(slots) }
            return .recoveryKey(try typedRecoveryKey(again: purpose))
        }
        return .passphrase(try passphrase(again: purpose))
    }

    /// Prompts for the recovery key until it is entered without a typing error.
    private func typedRecoveryKey(again purpose: String?) throws -> RecoveryKey {
        while true {
            let question = purpose.map(Question.recoveryKeyAgain) ?? .recoveryKey
            let answer = try question.ask()
            guard answer.count > 0 else {
                throw CommandFailure.terminal(.ended, asking: .recoveryKey)
            }
            do {
                return try RecoveryKey(parsing: answer)
            } catch {
                printer.complain(
                    "your input: \(Messages.sentence(for: error)); try again, or press Return to "
                        + "cancel.")
            }
        }
    }

    private func passphrase(again purpose: String?) throws -> SecretBytes {
        guard let path = passphraseFile else {
            let answer = try (purpose.map(Question.passphraseAgain) ?? .passphrase).ask()
            // No vault has an empty passphrase: an empty answer cancels the prompt, and is not
            // counted as an attempt.
            guard answer.count > 0 else {
                throw CommandFailure.terminal(.ended, asking: .passphrase)
            }
            return answer
        }
        if purpose == nil { warnAboutReaders(of: path) }
        return try SecretSource(path).readFirstLine(limit: Session.secretLimit)
    }

    /// Warns if other users can read a file with a passphrase or recovery key.
    func warnAboutReaders(of path: String) {
        guard FileKind.isReadableByOthers(at: path) else { return }
        printer.warn(
            "other users can read \(VisibleText.of(path)), which unlocks the vault; run chmod 600 on it"
        )
    }

    /// A new passphrase: from the file of `option`, or from two prompts.
    func newPassphrase(from option: Option) throws -> SecretBytes {
        if let path = arguments[option] { warnAboutReaders(of: path) }
        let passphrase = try newPassphrase(
            from: option, asking: .newPassphrase, again: .newPassphraseAgain)
        if passphrase.count < Session.shortPassphrase {
            printer.warn(
                "the passphrase is short and easy to guess from a copy of the vault; use several words"
            )
        }
        return passphrase
    }

    /// A new passphrase or password: from the file of `option`, or from two prompts.
    func newPassphrase(
        from option: Option, asking question: Question, again: Question
    ) throws -> SecretBytes {
        let passphrase: SecretBytes
        if let path = arguments[option] {
            passphrase = try SecretSource(path).readFirstLine(limit: Session.secretLimit)
        } else {
            passphrase = try question.ask()
            guard try passphrase.count == 0 || passphrase == again.ask() else {
                throw CommandFailure.passphrasesDiffer
            }
        }
        guard passphrase.count > 0 else { throw CommandFailure.emptyPassphrase }
        return passphrase
    }

    /// The shortest passphrase without a warning.
    ///
    /// NIST SP 800-63B-4, section 3.1.1.2, requires at least eight characters of a password that is
    /// not the only factor.
    static let shortPassphrase = 8
}

/// The attempts at one prompt, each of which the vault counts, too.
struct PromptAttempts {
    private var failures = 0
    private static let limit = 3

    /// Records a failure, and returns whether the command may prompt again.
    ///
    /// It must not prompt again once the vault or the entry is locked, or the entry is wiped.
    mutating func allowAnother(after refusal: PresenceRefusal) -> Bool {
        failures += 1
        guard failures < PromptAttempts.limit else { return false }
        switch refusal {
        case .wrongPassphrase, .refused(_, .free, _): return refusal.lockOut == nil
        default: return false
        }
    }
}

extension PresenceRefusal {
    /// The seconds for which the vault or the entry is locked; `nil` if it is not.
    var lockOut: Int64? {
        switch self {
        case .wrongPassphrase(_, let status):
            status.flatMap { $0.lockOut.seconds > 0 ? $0.lockOut.seconds : nil }
        case .vaultLockedOut(_, let seconds), .entryLockedOut(_, let seconds),
            .refused(_, .wait(let seconds), _):
            seconds
        default: nil
        }
    }
}

extension Session {
    /// Whether the command asks for the passphrase or recovery key on the terminal.
    var promptsForOpener: Bool {
        passphraseFile == nil && !arguments.has(.recoveryKeyFile)
    }

    /// Ends the command, instead of prompting for the passphrase, while the vault is locked.
    ///
    /// - Parameter lockOut: the remaining seconds.
    func requireNoLockOut(of path: String, _ lockOut: () throws -> Int64) throws {
        let seconds = try lockOut()
        guard seconds > 0 else { return }
        discardAnswer(duringLockOutOf: seconds)
        // Time may have passed at the prompt.
        throw CommandFailure.presence(.vaultLockedOut(VisibleText.of(path), seconds: try lockOut()))
    }

    /// The seconds for which the vault at `path` is locked.
    func lockOut(of path: String) throws -> Int64 {
        try CommandFailure.naming(path) { try Vault.lockOut(at: path).seconds }
    }

    /// On a terminal, prints how long the lock-out lasts, and reads one line without echo.
    ///
    /// A passphrase that is typed out of habit must not reach the shell.
    func discardAnswer(duringLockOutOf seconds: Int64) {
        // The lock-out is reported in any case, so it does not matter how the prompt ended.
        do { _ = try Question.lockedOut(seconds: seconds).ask() } catch _ {}
    }
}
