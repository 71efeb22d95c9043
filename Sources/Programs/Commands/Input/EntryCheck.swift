import CommandLineInterface
import Devices
import SecretVault

/// The check before an entry is opened.
enum EntryCheck: String, Hashable, Sendable {
    /// The passphrase or recovery key, which is entered to unlock the vault, and again for each
    /// further use.
    case passphrase
    /// PAM, in addition to the passphrase.
    case pam

    /// The strength of the check.
    ///
    /// - Parameter isEnforced: whether it runs in the system agent.
    func grade(isEnforced: Bool) -> String {
        switch self {
        case .passphrase: Cryptographic.name
        case .pam: isEnforced ? Enforced.name : Advisory.name
        }
    }
}

/// Decides which check an entry requires.
///
/// `--presence-check` applies only if the entry accepts any check, so that nobody can choose a
/// weaker check than the entry requires.
struct CheckChoice {
    /// The check given with `--presence-check`.
    private let chosen: EntryCheck?
    /// The check if neither the entry nor an option determines it.
    private let standard: EntryCheck

    fileprivate init(chosen: EntryCheck?, standard: EntryCheck) {
        self.chosen = chosen
        self.standard = standard
    }

    /// The check that `entry` requires.
    ///
    /// - Throws: ``PresenceRefusal/differentCheck(_:demanded:)`` if an option names a different
    ///   check from the one that the entry requires.
    func check(of entry: EntrySummary) throws -> EntryCheck {
        let presence = entry.accessControl.presence
        let check = check(for: presence)
        guard !presence.isPerUse || chosen == nil || chosen == check else {
            throw CommandFailure.presence(.differentCheck(entry.name, demanded: check))
        }
        return check
    }

    /// The check before an entry with this setting is opened.
    func check(for presence: AccessControl.Presence) -> EntryCheck {
        switch presence {
        case .perUnlock, .perUse(.passphrase): .passphrase
        case .perUse(.any): chosen ?? standard
        case .perUse(.pam): .pam
        }
    }
}

extension Session {
    /// The choice according to the options of this run.
    func checkChoice() throws -> CheckChoice {
        let word = try arguments.choice(.presenceCheck)
        return CheckChoice(
            chosen: word.flatMap(EntryCheck.init(rawValue:)),
            standard: PAMService.isInstalled() ? .pam : .passphrase)
    }
}
