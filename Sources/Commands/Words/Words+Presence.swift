import POSIX
import PresenceDevices
import SecretVault

// Who must be there, and what failing costs.
extension Words {
    /// Access control in a few words; `nil` where it is what every new entry gets.
    static func description(of access: AccessControl, for kind: EntryKind) -> String? {
        let standard = AccessControl.standard(for: kind)
        var words: [String] = []
        if access.presence != standard.presence { words.append(access.presence.word) }
        if access.onFailure != standard.onFailure { words.append(access.onFailure.word) }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// When somebody is asked.
    static func sentence(for presence: AccessControl.Presence) -> String {
        switch presence {
        case .perUnlock: "asked once, when the vault is unlocked"
        case .perUse(.any): "asked each time the secret is used"
        case .perUse(.passphrase): "the passphrase is asked each time the secret is used"
        case .perUse(.pam): "the system (PAM) asks each time the secret is used"
        }
    }

    /// What failing costs.
    static func sentence(for onFailure: AccessControl.OnFailure) -> String {
        switch onFailure {
        case .lockOut: "after 5 failures in a row it waits: 1, 5, 15, 30, then 60 minutes"
        case .wipe(let count):
            count.value == 1
                ? "the first failure wipes the secret"
                : "\(count.value) failures in a row wipe the secret"
        }
    }

    /// What is asked.
    static func sentence(for check: EntryCheck) -> String {
        switch check {
        case .passphrase: "the one that opens the vault"
        case .pam: "what the system asks for the service “watchword”, beside the passphrase"
        }
    }

    /// How much a yes is worth.
    static func sentence(forGradeOf check: EntryCheck) -> String {
        switch check {
        case .passphrase: "the check yields the key; without it nothing opens"
        case .pam: "the system says yes or no; who controls the system can say yes"
        }
    }
}

// Asking, and what came of it.
extension Words {
    /// What somebody is asked for.
    static func purpose(of use: EntryUse, _ entry: EntryName) -> String {
        switch use {
        case .code: "To show the code of \(entry.visible)"
        case .show: "To show the secret of \(entry.visible)"
        case .verify: "To check a code of \(entry.visible)"
        case .edit: "To change \(entry.visible)"
        case .signIn: "To sign in with \(entry.visible)"
        case .watch(let number, let all): "To watch \(entry.visible)\(place(number, of: all))"
        case .replace(let number, let all):
            "To replace \(entry.visible)\(place(number, of: all))"
        case .export(let number, let all): "To export \(entry.visible)\(place(number, of: all))"
        }
    }

    private static func place(_ number: Int, of all: Int) -> String {
        all > 1 ? " (\(number) of \(all))" : ""
    }

    static func sentence(for refusal: PresenceRefusal) -> String {
        switch refusal {
        case .wrongPassphrase(let vault, let standing):
            "\(vault): the passphrase does not open the vault"
                + (standing.map(cost) ?? []).map { "; " + $0 }.joined()
        case .wrongRecoveryKey(let vault): "\(vault): the recovery key does not open the vault"
        case .vaultWaits(let vault, let seconds):
            "\(vault): too many failures; \(wait(seconds)), with --recovery-key at once"
        case .refused(let entry, .free(let left), let onFailure):
            "“\(entry.visible)” stays closed; \(costs(onFailure)) \(after(left + 1))"
        case .refused(let entry, .wait(let seconds), _):
            "“\(entry.visible)” stays closed; \(wait(seconds))"
        case .refused(let entry, .notCounted, _): "“\(entry.visible)” stays closed"
        case .refused(let entry, .wiped, _):
            "“\(entry.visible)” is wiped: it allows no more failures, and its secret is gone"
        case .entryWaits(let entry, let seconds):
            "“\(entry.visible)” had too many failures; \(wait(seconds))"
        case .pam(let entry, let failure, let presence):
            "“\(entry.visible)” stays closed: " + sentence(for: failure)
                + advice(after: failure.reason, where: presence)
        case .otherCheck(let entry, let demanded):
            "“\(entry.visible)” is per-use:\(demanded.rawValue): it accepts no other check, and "
                + "--presence-check cannot change that"
        case .nothingFurther(let entry, let place, let error):
            "“\(entry.visible)” asks once more for what opened the vault, and \(place) does not give "
                + "it (\(sentence(for: error))); give a file, or use a terminal"
        }
    }

    /// What to do where the system cannot ask.
    private static func advice(
        after reason: PAMCheckFailure.Reason, where presence: AccessControl.Presence
    ) -> String {
        switch (reason, presence) {
        case (.noServiceFile, .perUse(.pam)):
            "; the entry accepts no other check, so install that file"
        case (.noTerminal, .perUse(.pam)): "; run the command on a terminal"
        case (.noServiceFile, _), (.noTerminal, _):
            "; --presence-check passphrase asks for the passphrase"
        default: ""
        }
    }

    private static func cost(_ standing: VaultStanding) -> [String] {
        var costs: [String] = []
        if standing.wiped > 0 {
            costs.append(
                standing.wiped == 1
                    ? "the secret of an entry is wiped"
                    : "the secrets of \(standing.wiped) entries are wiped")
        }
        if standing.lockOut.seconds > 0 {
            costs.append(wait(standing.lockOut.seconds) + ", with --recovery-key at once")
        } else if standing.failuresToWait > 0 {
            costs.append("a wait comes \(after(standing.failuresToWait))")
        }
        if let left = standing.failuresToWipe { costs.append("a secret is wiped \(after(left))") }
        return costs
    }

    /// What the first failure that is not free costs.
    private static func costs(_ onFailure: AccessControl.OnFailure) -> String {
        if case .wipe(let limit) = onFailure, limit.value <= 5 { return "it is wiped" }
        return "it waits"
    }

    private static func wait(_ seconds: Int64) -> String {
        "the next try is possible in \(duration(seconds))"
    }

    private static func after(_ failures: Int) -> String {
        failures == 1 ? "after 1 more failure" : "after \(failures) more failures"
    }
}
