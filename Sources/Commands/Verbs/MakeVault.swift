import Arguments
import Cryptography
import JSONText
import POSIX
import SecretVault

/// `init`: a new vault.
enum MakeVault {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let path = try session.vaultPath()
        let cost = try session.cost()
        try session.inVault(path) { () throws(VaultError) in
            // Nobody thinks up a passphrase for nothing.
            try Vault.expectFree(path)
        }
        let passphrase = try session.newPassphrase(from: .passphraseFile)
        func make(_ recoveryKey: RecoveryKey?) throws(CommandFailure) {
            let reports = try session.inVault(path) { () throws(VaultError) in
                try Vault.create(
                    at: path, passphrase: passphrase, cost: cost, recoveryKey: recoveryKey,
                    now: SystemClock.unixTime())
            }
            session.printer.note("Made the vault \(VisibleText.of(path)).")
            session.warnOfCost(cost.logN)
            for report in reports { session.printer.warn(Words.sentence(for: report, in: [])) }
        }
        if session.arguments.has(.noRecoveryKey) {
            try make(nil)
        } else {
            try addRecoveryKey(session, saving: make)
        }
        return .done
    }

    /// Makes a recovery key, prints it, saves it, and asks it back where somebody can answer.
    ///
    /// It is saved only once it is printed: nobody would have a key that could not be.
    static func addRecoveryKey(
        _ session: Session, saving save: (RecoveryKey) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let key = try session.inVault { () throws(VaultError) in try RecoveryKey.make() }
        let text = try session.inVault { () throws(VaultError) in try key.text() }
        try show(text, session)
        do {
            try save(key)
        } catch {
            if case .vault(_, let reason) = error, reason.isSaved { throw error }
            session.printer.alarm(
                "nothing was saved; the recovery key that was printed opens nothing")
            throw error
        }
        guard session.printer.outputIsTerminal, StandardStream.input.isTerminal else { return }
        session.printer.note("Write it down and put it away; then type it to see that it is right.")
        try askBack(text, session)
    }

    private static func show(_ text: SecretBytes, _ session: Session) throws(CommandFailure) {
        if session.wantsJSON {
            try session.printer.line(.object([("recovery_key", .secret(text))]))
        } else {
            session.printer.note(
                "The recovery key opens the vault without the passphrase. It is shown once:")
            try session.printer.line(text)
        }
        try session.printer.deliver()
    }

    // The vault is there already: somebody who gives up here has a vault and a key on the screen.
    private static func askBack(_ text: SecretBytes, _ session: Session) throws(CommandFailure) {
        while true {
            var answer: SecretBytes?
            // No answer is an answer here: what was asked for is done already.
            do { answer = try Question.shownRecoveryKey.ask() } catch .terminal { answer = nil }
            guard let answer, answer.count > 0 else {
                session.printer.warn("the recovery key was not checked, but it opens the vault")
                return
            }
            do {
                let typed = try session.recoveryKey(answer, from: "what you typed")
                let same = try session.inVault { () throws(VaultError) in try typed.text() == text }
                if same {
                    session.printer.note("That is it.")
                    return
                }
                session.printer.note("That is another recovery key; try again.")
            } catch .recoveryKey(let place, let error) {
                session.printer.note(
                    Words.sentence(for: .recoveryKey(place, error))
                        + "; try again, or press Return to leave it.")
            }
        }
    }
}
