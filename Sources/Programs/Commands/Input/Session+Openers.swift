import CommandLineInterface
import SecretVault
import WatchwordCryptography
import WatchwordSystem

// What opens the vault: passphrases and recovery keys, from files or prompts.
extension Session {
    /// Whether the options select the recovery key.
    var isOpenedByRecoveryKey: Bool {
        arguments.has(.recoveryKey) || arguments.has(.recoveryKeyFile)
    }

    /// The file with the passphrase: `--passphrase-file`, or `$WATCHWORD_PASSPHRASE_FILE` unless the
    /// options select the recovery key.
    var passphraseFile: String? {
        isOpenedByRecoveryKey ? nil : arguments[.passphraseFile]
    }

    /// The passphrase or recovery key, from a file or a prompt.
    ///
    /// - Parameters:
    ///   - purpose: The reason for asking again; `nil` the first time.
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
                try CommandFailure.naming(source.name) { try RecoveryKey(parsing: text) })
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

    /// The current passphrase.
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
        let passphrase: SecretBytes
        if let path = arguments[option] {
            warnAboutReaders(of: path)
            passphrase = try SecretSource(path).readFirstLine(limit: Session.secretLimit)
        } else {
            passphrase = try Question.newPassphrase.ask()
            if passphrase.count > 0 {
                let again = try Question.newPassphraseAgain.ask()
                guard passphrase == again else { throw CommandFailure.passphrasesDiffer }
            }
        }
        guard passphrase.count > 0 else { throw CommandFailure.emptyPassphrase }
        if passphrase.count < Session.shortPassphrase {
            printer.warn(
                "the passphrase is short and easy to guess from a copy of the vault; use several words"
            )
        }
        return passphrase
    }

    /// The shortest passphrase without a warning.
    ///
    /// NIST SP 800-63B-4, section 3.1.1.2, requires at least eight characters of a password that is
    /// not the only factor.
    static let shortPassphrase = 8
}
