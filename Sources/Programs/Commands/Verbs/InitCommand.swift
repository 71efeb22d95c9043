import CommandLineInterface
import SecretVault
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `init`: creates a vault.
enum InitCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let path = try session.vaultPath()
        let cost = try session.cost()
        guard try session.systemVault() == nil else { throw CommandFailure.keptBySystem }
        // Check the path before the passphrase prompt.
        try Vault.requireUnusedPath(path)
        let passphrase = try session.newPassphrase(from: .passphraseFile)
        func make(_ recoveryKey: RecoveryKey?) throws {
            let reports = try Vault.create(
                at: path, passphrase: passphrase, cost: cost, recoveryKey: recoveryKey,
                now: SystemClock.unixTime())
            session.printer.note("Created the vault \(VisibleText.of(path)).")
            session.warnAboutCost(cost.logN)
            for advice in [Messages.gitAdvice(for: path), Messages.syncthingAdvice(for: path)] {
                if let advice { session.printer.note(advice) }
            }
            for report in reports { session.printer.warn(Messages.sentence(for: report, in: [])) }
        }
        if session.arguments.has(.noRecoveryKey) {
            try make(nil)
        } else {
            try addRecoveryKey(session, saving: make)
        }
        session.printer.note(Messages.nextSteps(session.program))
        return .done
    }

    /// Creates a recovery key, prints it and saves it; on a terminal, asks the user to type it, to
    /// verify the written copy.
    ///
    /// It is printed before it is saved: a saved key that could not be printed would be useless.
    static func addRecoveryKey(
        _ session: Session, saving save: (RecoveryKey) throws -> Void
    ) throws {
        let key = RecoveryKey.make()
        let text = key.text()
        try show(text, session)
        do {
            try save(key)
        } catch {
            if (error as? VaultError)?.isSaved != true {
                session.printer.alarm(
                    "nothing was saved; discard the recovery key that was printed")
            }
            throw error
        }
        guard session.printer.outputIsTerminal, StandardStream.input.isTerminal else { return }
        session.printer.note("Store your copy away from the vault, and type it to verify it.")
        try askToRepeat(text, session)
    }

    private static func show(_ text: SecretBytes, _ session: Session) throws {
        session.printer.warnIfOthersCanRead()
        if session.wantsJSON {
            try session.printer.line(.object([("recovery_key", .secret(text))]))
        } else {
            session.printer.note(
                "The recovery key opens the vault if you forget the passphrase. It is shown only once; write it down:"
            )
            try session.printer.line(text)
        }
        try session.printer.deliver()
    }

    // The key is already saved, so the user can skip the verification.
    private static func askToRepeat(_ text: SecretBytes, _ session: Session) throws {
        while true {
            var answer: SecretBytes?
            // Without an answer, the verification is skipped.
            do { answer = try Question.shownRecoveryKey.ask() } catch CommandFailure.terminal {
                answer = nil
            }
            guard let answer, answer.count > 0 else {
                session.printer.warn("the recovery key was not verified, but it unlocks the vault")
                return
            }
            do {
                if try RecoveryKey(parsing: answer).text() == text {
                    session.printer.note("The recovery key is correct.")
                    return
                }
                session.printer.note("That is a different recovery key; try again.")
            } catch {
                session.printer.complain(
                    "\(Messages.sentence(for: error)); try again, or press Return to skip."
                )
            }
        }
    }
}
