import CommandLineInterface
import Devices
import SecretVault
import VaultService

extension Session {
    /// Asks for a check of each per-use entry in `entries`: replacing a secret requires the
    /// same check as using it.
    ///
    /// - Returns: The entries whose checks succeeded.
    @discardableResult func askToReplace(
        _ entries: [EntrySummary], in vault: any OpenVault
    ) throws -> Set<RecordID> {
        let asking = entries.filter(\.requiresCheckPerUse)
        for (index, entry) in asking.enumerated() {
            let use = EntryUse.replace(number: index + 1, of: asking.count)
            try confirm(entry, in: vault, for: use)
        }
        return Set(asking.map(\.id))
    }

    /// Asks for the check that renaming or removing `entry` requires, if it requires one.
    ///
    /// A damaged entry is not protected, and can be removed without a check.
    func confirmIfRequired(
        _ entry: EntrySummary, in vault: any OpenVault, for use: EntryUse
    ) throws {
        guard entry.requiresCheckPerUse else { return }
        do {
            try confirm(entry, in: vault, for: use)
        } catch CommandFailure.at(_, VaultError.damaged) {}
    }

    /// Asks for the check that changing or replacing `entry` requires, for the next edit.
    func confirm(_ entry: EntrySummary, in vault: any OpenVault, for use: EntryUse) throws {
        let response = try response(for: entry, in: vault, for: use) { presence in
            .confirm(vault.place, entry.id, presence)
        }
        guard case .done = response else { throw AgentFailure.malformed }
    }

    /// Unlocks the vault to change the ways to open it.
    ///
    /// After a TPM without a PIN has opened the vault, this asks for the passphrase or the recovery
    /// key.
    func unlockToChangeSlots() throws -> UnlockedVault {
        let vault = try unlock()
        guard !vault.unlockingProvesPresence else { return vault }
        let path = try vaultPath()
        return try attempting(path) {
            try lockOut(of: path)
        } unlock: {
            let opener = try opener(
                again: "To change how the vault is opened", slots: vault.slots)
            return try unlocked(path, with: opener)
        }
    }
}

/// The purpose of opening an entry, shown in the prompt.
enum EntryUse: Hashable, Sendable {
    case show
    case loginStatus
    case verify
    case edit
    case remove
    case signIn
    /// Signing in to this server with a device key.
    case signInTo(String)
    /// Confirming a text for this server with a device key.
    case confirmText(String)
    /// Registering a new device key at this server.
    case enrolAt(String)
    /// One of several entries that require a check; the first is 1.
    case code(number: Int, of: Int)
    case watch(number: Int, of: Int)
    case export(number: Int, of: Int)
    case replace(number: Int, of: Int)

    /// Whether the use requires the secret; other uses only change or replace the entry.
    var needsSecret: Bool {
        switch self {
        case .edit, .remove, .replace, .enrolAt: false
        default: true
        }
    }

    /// Whether an earlier check may be reused, if the entry allows it.
    ///
    /// Showing or changing a secret and confirming a text always require a check. So does `watch`,
    /// whose check stays valid while it runs.
    var mayReuse: Bool {
        switch self {
        case .code, .verify, .signIn, .signInTo: true
        case .show, .loginStatus, .edit, .remove, .watch, .export, .replace, .confirmText, .enrolAt:
            false
        }
    }

    /// Whether the check from unlocking was already used for a different entry.
    var isFurther: Bool {
        switch self {
        case .show, .loginStatus, .verify, .edit, .remove, .signIn, .signInTo, .confirmText,
            .enrolAt:
            false
        case .code(let number, _), .watch(let number, _), .export(let number, _),
            .replace(let number, _):
            number > 1
        }
    }
}

/// The kind of check before an entry is opened.
enum EntryCheck: String, Hashable, Sendable {
    /// The passphrase or recovery key, entered to unlock the vault, and again for each further use.
    case passphrase
    /// PAM, in addition to the passphrase.
    case pam

    /// The strength of the check.
    ///
    /// - Parameter isEnforced: whether the system agent makes the check.
    func grade(isEnforced: Bool) -> String {
        switch self {
        case .passphrase: Cryptographic.name
        case .pam: isEnforced ? Enforced.name : Advisory.name
        }
    }
}

/// Decides which check an entry requires.
///
/// `--presence-check` applies only if the entry accepts any check, so it cannot weaken the
/// requirement of an entry.
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
    /// - Throws: ``PresenceRefusal/differentCheck(_:demanded:)`` if an option specifies a different
    ///   check than the entry requires.
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
