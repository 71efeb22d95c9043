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

extension EntrySummary {
    /// What is asked before the entry opens, where each use is asked for by `atUse`.
    func check(atUse: EntryCheck) -> EntryCheck {
        accessControl.presence == .perUse ? atUse : .passphrase
    }
}

extension Session {
    /// What entries that ask at each use ask: what `--presence-check` says, else PAM where it is set up.
    func checkAtUse() throws(CommandFailure) -> EntryCheck {
        let word = try usage { () throws(UsageError) in try arguments.choice(.presenceCheck) }
        if let word, let check = EntryCheck(rawValue: word) { return check }
        return PAMService.isInstalled() ? .pam : .passphrase
    }
}
