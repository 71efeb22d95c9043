import Devices
import SecretVault
import WatchwordSystem

// When an entry requires a check, and the cost of failures.
extension Messages {
    /// Access control in a few words; `nil` for the default.
    static func description(of access: AccessControl, for kind: EntryKind) -> String? {
        let standard = AccessControl.standard(for: kind)
        var words: [String] = []
        if access.presence != standard.presence { words.append(access.presence.word) }
        if access.reuse != .none { words.append("reuse \(access.reuse.seconds) s") }
        if access.onFailure != standard.onFailure { words.append(access.onFailure.word) }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    static func sentence(for presence: AccessControl.Presence) -> String {
        switch presence {
        case .perUnlock: "one check, when the vault is unlocked"
        case .perUse(.any): "a check at each use"
        case .perUse(.passphrase): "a check of the passphrase at each use"
        case .perUse(.pam): "a check by PAM at each use"
        }
    }

    static func sentence(for reuse: ReuseTime) -> String {
        "while the agent holds the vault, a check stays valid for "
            + duration(Int64(reuse.seconds))
    }

    /// The wait after the first failure that causes a lock-out.
    static var firstWait: String { duration(60 * Int64(LockOutPolicy.minutes[0])) }

    /// The waits after the failures that follow.
    static var laterWaits: String {
        let waits = LockOutPolicy.minutes.dropFirst().map { "\($0)" }
        return waits.dropLast().joined(separator: ", ")
            + " and then \(waits[waits.count - 1]) minutes"
    }

    static func sentence(for onFailure: AccessControl.OnFailure) -> String {
        switch onFailure {
        case .lockOut:
            "\(LockOutPolicy.firstFailureWithWait) failures in a row lock you out for \(firstWait); "
                + "further failures lock you out for \(laterWaits)"
        case .wipe(let count):
            count.value == 1
                ? "the first failure wipes it" : "\(count.value) failures in a row wipe it"
        }
    }

    static func sentence(for check: EntryCheck) -> String {
        switch check {
        case .passphrase: "the passphrase or recovery key that opens the vault"
        case .pam: "PAM, service “watchword”, in addition to the passphrase"
        }
    }

    static func sentence(forGradeOf check: EntryCheck, isEnforced: Bool) -> String {
        switch check {
        case .passphrase: "the entry cannot be decrypted without it"
        case .pam where isEnforced:
            "the system agent, which runs as a separate user, asks PAM, and only the agent has the key"
        case .pam: "PAM answers yes or no, and anyone who controls the system can fake the answer"
        }
    }
}

// Prompts, and the results of checks.
extension Messages {
    static func purpose(of use: EntryUse, _ entry: EntryName) -> String {
        switch use {
        case .code(let number, let all):
            "To show the code of \(entry.visible)\(place(number, of: all))"
        case .show: "To show the secret of \(entry.visible)"
        case .loginStatus: "To show the login status of \(entry.visible)"
        case .verify: "To verify a code of \(entry.visible)"
        case .edit: "To change \(entry.visible)"
        case .remove: "To remove \(entry.visible)"
        case .signIn: "To sign in with \(entry.visible)"
        case .signInTo(let server):
            "To sign in to \(VisibleText.of(server)) with \(entry.visible)"
        case .confirmText(let server):
            "To confirm the text for \(VisibleText.of(server)) with \(entry.visible)"
        case .enrolAt(let server):
            "To enrol \(entry.visible) at \(VisibleText.of(server))"
        case .watch(let number, let all): "To watch \(entry.visible)\(place(number, of: all))"
        case .replace(let number, let all):
            "To replace \(entry.visible)\(place(number, of: all))"
        case .export(let number, let all): "To export \(entry.visible)\(place(number, of: all))"
        }
    }

    /// The purpose of the check before a vault is moved from the system agent.
    static let purposeOfMove = "To move the vault"

    /// The sentence for a failed check before a move.
    static func sentence(forMoveRefused cost: RefusalCost) -> String {
        let refused = "the vault was not moved, because it has entries that only PAM opens"
        return switch cost {
        case .free(let left):
            "\(refused); such an entry locks you out or is wiped \(after(left + 1))"
        case .wait(let seconds): "\(refused); \(wait(seconds))"
        case .notCounted: refused
        case .wiped: "\(refused); such an entry was wiped after too many failures"
        }
    }

    private static func place(_ number: Int, of all: Int) -> String {
        all > 1 ? " (\(number) of \(all))" : ""
    }

    static func sentence(for refusal: PresenceRefusal) -> String {
        switch refusal {
        case .wrongPassphrase(let vault, let status):
            "\(vault): wrong passphrase" + (status.map(cost) ?? []).map { "; " + $0 }.joined()
        case .wrongRecoveryKey(let vault): "\(vault): wrong recovery key"
        case .vaultLockedOut(let vault, let seconds):
            "\(vault): too many failures; \(wait(seconds)), or use --recovery-key now"
        case .refused(let entry, .free(let left), let onFailure):
            "“\(entry.visible)” was not opened; \(costs(onFailure)) \(after(left + 1))"
        case .refused(let entry, .wait(let seconds), _):
            "“\(entry.visible)” was not opened; \(wait(seconds))"
        case .refused(let entry, .notCounted, _): "“\(entry.visible)” was not opened"
        case .refused(let entry, .wiped, _):
            "“\(entry.visible)” was wiped after too many failures, and cannot be restored"
        case .entryLockedOut(let entry, let seconds):
            "you are locked out of “\(entry.visible)” after too many failures; \(wait(seconds))"
        case .pam(let entry, let failure, let presence):
            "“\(entry.visible)” was not opened: " + sentence(for: failure)
                + advice(after: failure.reason, where: presence)
        case .differentCheck(let entry, let demanded):
            "“\(entry.visible)” is per-use:\(demanded.rawValue) and accepts no other check; omit "
                + "--presence-check"
        case .nothingFurther(let entry, let place, let error):
            "“\(entry.visible)” requires another check (\(place): \(sentence(for: error))); "
                + "give the passphrase or recovery key in a file or on a terminal"
        }
    }

    /// The advice if PAM cannot run the check.
    private static func advice(
        after reason: PAMCheckFailure.Reason, where presence: AccessControl.Presence
    ) -> String {
        switch (reason, presence) {
        case (.noServiceFile, .perUse(.pam)):
            "; the entry accepts no other check, so create the file"
        case (.noTerminal, .perUse(.pam)): "; run the command on a terminal"
        case (.noServiceFile, _), (.noTerminal, _):
            "; use --presence-check passphrase to enter the passphrase instead"
        default: ""
        }
    }

    private static func cost(_ status: VaultStatus) -> [String] {
        var costs: [String] = []
        if status.wiped > 0 {
            costs.append(
                status.wiped == 1
                    ? "an entry was wiped" : "\(status.wiped) entries were wiped")
        }
        if status.lockOut.seconds > 0 {
            costs.append(wait(status.lockOut.seconds) + ", or use --recovery-key now")
        } else if status.failuresUntilLockOut > 0 {
            costs.append("you will be locked out \(after(status.failuresUntilLockOut))")
        }
        if let left = status.failuresUntilWipe {
            costs.append("an entry will be wiped \(after(left))")
        }
        if status.hasOtherSlots {
            costs.append(
                "a different passphrase may open this file: its slots differ from the slots last used "
                    + "here, so the file may be an older copy that a program put in place")
        }
        return costs
    }

    /// The effect of the first failure that has consequences.
    private static func costs(_ onFailure: AccessControl.OnFailure) -> String {
        if case .wipe(let limit) = onFailure, limit.value <= LockOutPolicy.firstFailureWithWait {
            return "it will be wiped"
        }
        return "you will be locked out of it"
    }

    private static func wait(_ seconds: Int64) -> String {
        "try again in \(duration(seconds))"
    }

    private static func after(_ failures: Int) -> String {
        failures == 1 ? "after 1 more failure" : "after \(failures) more failures"
    }
}

// Presence checks through PAM.
extension Messages {
    static func sentence(for failure: PAMCheckFailure) -> String {
        switch failure.reason {
        case .timedOut: "no answer in time; nothing was changed"
        case .cancelled: "cancelled; nothing was changed"
        case .noServiceFile:
            "PAM is not configured (there is no /etc/pam.d/\(PAMService.name))"
        case .noTerminal: "PAM needs a terminal to prompt on"
        case .answerTooLong: "the answer is too long; the limit is 512 bytes"
        case .terminal(let failure): "the terminal: " + sentence(for: failure)
        case .noUserName: "the current user has no user name on this system"
        case .accountRefused: "the check passed, but your account is locked or has expired"
        case .failed(let failure):
            "PAM could not complete the check: " + sentence(for: failure)
        case .ended: "a PAM module exited before it returned a result"
        case .talksTooMuch: "a PAM module printed too much text"
        case .nonsense: "watchword-presence sent an invalid response"
        case .programNotFound:
            "watchword-presence is not installed beside watchword; reinstall Watchword"
        case .otherVersion:
            "watchword-presence and watchword have different versions; reinstall Watchword"
        case .alreadyAsking(let name):
            "a different program is already asking for a check of “\(VisibleText.of(name))”; if "
                + "you did not start it, do not answer or touch anything, and run watchword lock --all "
                + "to end that check"
        case .system(let failure): sentence(for: failure)
        }
    }

    private static func sentence(for failure: PAMCallFailure) -> String {
        switch failure.cause {
        case .moduleNotLoaded:
            "a module could not be loaded; check /etc/pam.d/\(PAMService.name), and that the "
                + "module's package is installed"
        case .moduleFailed: "a module failed; see the system log"
        case .notPermitted: "a module has no permission to read what it needs; see the system log"
        case .unavailable:
            "a device or service that the check needs is not available; check that it is connected and set up"
        case .passwordExpired: "your password has expired; change it with passwd"
        case .promptFailed: "a module could not ask its question; try again"
        case .gaveUp: "a module ended the check; try again"
        case .other: "an unknown error (number \(failure.code)); see the system log"
        }
    }
}
