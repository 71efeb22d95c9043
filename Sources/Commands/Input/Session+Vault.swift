import Arguments
import Cryptography
import OneTimePassword
import POSIX
import SecretVault

// The vault, and how it is opened.
extension Session {
    /// Where the vault is: `--vault`, `$WATCHWORD_VAULT`, or its place in the person's data folder.
    func vaultPath() throws(CommandFailure) -> String {
        if let path = arguments[.vault] ?? Environment.value("WATCHWORD_VAULT") { return path }
        // A relative path there is to be ignored (XDG Base Directory Specification).
        if let data = Environment.value("XDG_DATA_HOME"), data.hasPrefix("/") {
            return data + "/watchword/vault"
        }
        guard let home = Environment.value("HOME") else { throw .noHome }
        return home + "/.local/share/watchword/vault"
    }

    /// Opens the vault, and tells what it has to tell.
    func unlock() throws(CommandFailure) -> UnlockedVault {
        let path = try vaultPath()
        try inVault(path) { () throws(VaultError) in
            // Nobody is asked for the passphrase of a vault that is not there.
            guard try Vault.isTaken(path) else { throw .notFound }
        }
        let unlocked = try unlocked(path)
        for report in unlocked.reports {
            let sentence = Words.sentence(for: report, in: unlocked.entries)
            switch report {
            // Codes that repeat are dangerous, and nobody quiet should hand them out unknowing.
            case .olderFile, .otherFile: printer.alarm(sentence)
            default: printer.warn(sentence)
            }
        }
        return unlocked
    }

    private func unlocked(_ path: String) throws(CommandFailure) -> UnlockedVault {
        if !arguments.has(.passphraseFile), !isOpenedByRecoveryKey {
            // Nobody types a passphrase that is not looked at.
            let waiting = try inVault(path) { () throws(VaultError) in try Vault.lockOut(at: path) }
            guard waiting.seconds == 0 else {
                throw .presence(.vaultWaits(VisibleText.of(path), seconds: waiting.seconds))
            }
        }
        let began = SystemClock.unixTime()
        let opener = try opener()
        let ceiling = try unlockCeiling()
        do {
            return try Vault.unlock(
                at: path, with: opener, ceiling: ceiling, readOnly: arguments.has(.readOnly))
        } catch .wrongPassphrase {
            throw .presence(.wrongPassphrase(VisibleText.of(path), standing(path, since: began)))
        } catch .wrongRecoveryKey {
            throw .presence(.wrongRecoveryKey(VisibleText.of(path)))
        } catch .lockedOut(let seconds) {
            throw .presence(.vaultWaits(VisibleText.of(path), seconds: seconds))
        } catch {
            throw .vault(VisibleText.of(path), error)
        }
    }

    /// What a failure has cost, as far as it can be told.
    private func standing(_ path: String, since began: Int64) -> VaultStanding? {
        // Where nothing is counted, it has cost nothing.
        guard !arguments.has(.readOnly) else { return nil }
        do { return try Vault.standing(at: path, since: began) } catch { return nil }
    }

    /// Whether the recovery key is what opens the vault.
    var isOpenedByRecoveryKey: Bool {
        arguments.has(.recoveryKey) || arguments.has(.recoveryKeyFile)
    }

    /// Makes what the vault throws this verb's failure.
    func inVault<Result>(_ path: String? = nil, _ body: () throws(VaultError) -> Result)
        throws(CommandFailure) -> Result
    {
        let place: String
        if let path { place = path } else { place = try vaultPath() }
        do { return try body() } catch { throw .vault(VisibleText.of(place), error) }
    }

    /// What is to open the vault, read or asked for.
    ///
    /// - Parameter purpose: what for, where it did so before.
    func opener(again purpose: String? = nil) throws(CommandFailure) -> VaultOpener {
        try usage { () throws(UsageError) in
            try arguments.forbid(.passphraseFile, .recoveryKey, .recoveryKeyFile)
        }
        if arguments.has(.recoveryKey) { return .recoveryKey(try typedRecoveryKey(again: purpose)) }
        if let path = arguments[.recoveryKeyFile] {
            if purpose == nil { warnOfReaders(of: path) }
            let source = SecretSource(path)
            let text = try source.readFirstLine(limit: Session.secretLimit)
            return .recoveryKey(try recoveryKey(text, from: source.name))
        }
        return .passphrase(try passphrase(again: purpose))
    }

    /// The recovery key as somebody types it; a slip of the pen costs nothing but another try.
    private func typedRecoveryKey(again purpose: String?) throws(CommandFailure) -> RecoveryKey {
        while true {
            let question = purpose.map(Question.recoveryKeyAgain) ?? .recoveryKey
            let answer = try question.ask()
            guard answer.count > 0 else { throw .terminal(.ended, asking: .recoveryKey) }
            do {
                return try recoveryKey(answer, from: "what you typed")
            } catch .recoveryKey(let place, let error) {
                printer.complain(
                    Words.sentence(for: .recoveryKey(place, error))
                        + "; try again, or press Return to leave it.")
            }
        }
    }

    func recoveryKey(_ text: SecretBytes, from place: String) throws(CommandFailure)
        -> RecoveryKey
    {
        do {
            return try RecoveryKey(parsing: text)
        } catch {
            throw .recoveryKey(place, error)
        }
    }

    /// The present passphrase.
    private func passphrase(again purpose: String?) throws(CommandFailure) -> SecretBytes {
        guard let path = arguments[.passphraseFile] else {
            let answer = try (purpose.map(Question.passphraseAgain) ?? .passphrase).ask()
            // No vault has an empty one: this is somebody leaving, and no guess to be counted.
            guard answer.count > 0 else { throw .terminal(.ended, asking: .passphrase) }
            return answer
        }
        if purpose == nil { warnOfReaders(of: path) }
        return try SecretSource(path).readFirstLine(limit: Session.secretLimit)
    }

    /// Warns where a file that opens the vault can be read by others.
    private func warnOfReaders(of path: String) {
        guard FileKind.isReadableByOthers(at: path) else { return }
        printer.warn("others can read \(VisibleText.of(path)), which opens the vault; chmod 600 it")
    }

    /// A passphrase to be set: the one in the file that `option` names, or asked for twice.
    func newPassphrase(from option: Option) throws(CommandFailure) -> SecretBytes {
        let passphrase: SecretBytes
        if let path = arguments[option] {
            warnOfReaders(of: path)
            passphrase = try SecretSource(path).readFirstLine(limit: Session.secretLimit)
        } else {
            passphrase = try Question.newPassphrase.ask()
            if passphrase.count > 0 {
                let again = try Question.newPassphraseAgain.ask()
                guard passphrase == again else { throw .passphrasesDiffer }
            }
        }
        guard passphrase.count > 0 else { throw .emptyPassphrase }
        if passphrase.count < Session.shortPassphrase {
            printer.warn(
                "the passphrase is short, and soon guessed by whoever has a copy of the vault; "
                    + "better take several words")
        }
        return passphrase
    }

    /// `--max-unlock-cost`, or the standard limit.
    private func unlockCeiling() throws(CommandFailure) -> Int {
        let most = Vault.greatestCeiling
        return try usage { () throws(UsageError) in
            try arguments.integer(.maxUnlockCost, in: 10...most) ?? Vault.standardCeiling
        }
    }

    /// Tells what later commands need, where a vault costs more to open than they pay unasked.
    func warnOfCost(_ logN: Int) {
        guard logN > Vault.standardCeiling else { return }
        printer.alarm(
            "opening the vault may cost more than the standard limit now; every command needs "
                + "--\(Option.maxUnlockCost.name) \(logN)")
    }

    /// Passphrases of fewer bytes are warned of (NIST SP 800-63B, section 3.1.1.2, wants eight characters).
    private static let shortPassphrase = 8

    /// `--scrypt-log-n`, or the standard cost.
    func cost() throws(CommandFailure) -> ScryptCost {
        let logN = try usage { () throws(UsageError) in
            try arguments.integer(.scryptLogN, in: 10...24)
        }
        guard let logN else { return .standard }
        if logN < ScryptCost.standard.logN {
            let times = 1 << (ScryptCost.standard.logN - logN)
            printer.warn(
                "--\(Option.scryptLogN.name) \(logN) makes each guess at the passphrase \(times) times "
                    + "cheaper than the default, \(ScryptCost.standard.logN)")
        }
        do {
            return try ScryptCost(logN: logN)
        } catch {
            let expected = "a whole number from 10 to 24"
            throw .usage(.badValue(Option.scryptLogN.name, expected: expected))
        }
    }
}
