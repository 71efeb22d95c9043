import Arguments
import Presence
import PresenceDevices
import SecretVault

/// What is asked before an entry opens.
enum EntryCheck: String, Hashable, Sendable {
    /// What opens the vault: at its unlocking, and again at each further use.
    case passphrase
    /// The system's own question, beside the passphrase.
    case pam

    /// The name of what a yes is worth.
    var grade: String {
        switch self {
        case .passphrase: Cryptographic.name
        case .pam: Advisory.name
        }
    }
}

/// Decides which check an entry asks.
///
/// The entry decides first. `--presence-check` chooses only where the entry accepts any check: whoever is
/// checked must not choose an easier one.
struct CheckChoice {
    /// What `--presence-check` names, if it names one.
    private let chosen: EntryCheck?
    /// What is asked where neither the entry nor an option names a check.
    private let standard: EntryCheck

    fileprivate init(chosen: EntryCheck?, standard: EntryCheck) {
        self.chosen = chosen
        self.standard = standard
    }

    /// What `entry` asks before it opens.
    ///
    /// - Throws: ``PresenceRefusal/otherCheck(_:demanded:)`` when an option asks for another check than
    ///   the entry demands.
    func check(of entry: EntrySummary) throws(CommandFailure) -> EntryCheck {
        let demanded: EntryCheck
        switch entry.accessControl.presence {
        case .perUnlock: return .passphrase
        case .perUse(.any): return chosen ?? standard
        case .perUse(.passphrase): demanded = .passphrase
        case .perUse(.pam): demanded = .pam
        }
        guard chosen == nil || chosen == demanded else {
            throw .presence(.otherCheck(entry.name, demanded: demanded))
        }
        return demanded
    }
}

extension Session {
    /// The choice that this run's options leave.
    func checkChoice() throws(CommandFailure) -> CheckChoice {
        let word = try usage { () throws(UsageError) in try arguments.choice(.presenceCheck) }
        return CheckChoice(
            chosen: word.flatMap(EntryCheck.init(rawValue:)),
            standard: PAMService.isInstalled() ? .pam : .passphrase)
    }
}
