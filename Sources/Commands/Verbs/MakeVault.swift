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
            if try Vault.isTaken(path) { throw .alreadyExists }
        }
        let passphrase = try session.newPassphrase(from: .passphraseFile)
        let wantsKey = !session.arguments.has(.noRecoveryKey)
        let made = try session.inVault(path) { () throws(VaultError) in
            try Vault.create(
                at: path, passphrase: passphrase, cost: cost, recoveryKey: wantsKey,
                now: SystemClock.unixTime())
        }
        session.printer.note("Made the vault \(VisibleText.of(path)).")
        session.warnOfCost(cost.logN)
        for report in made.reports { session.printer.warn(Words.sentence(for: report, in: [])) }
        if let key = made.recoveryKey { try show(key, session) }
        return .done
    }

    /// Prints a recovery key, once, and asks it back where somebody can answer.
    static func show(_ key: RecoveryKey, _ session: Session) throws(CommandFailure) {
        let text = try session.inVault { () throws(VaultError) in try key.text() }
        if session.wantsJSON {
            try session.printer.line(.object([("recovery_key", .secret(text))]))
        } else {
            session.printer.note(
                "The recovery key opens the vault without the passphrase. It is shown once:")
            try session.printer.line(text)
        }
        guard session.printer.outputIsTerminal, StandardStream.input.isTerminal else { return }
        session.printer.note("Write it down and put it away; then type it to see that it is right.")
        try askBack(text, session)
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
