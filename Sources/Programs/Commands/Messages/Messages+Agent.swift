import VaultService
import WatchwordSystem

extension Messages {
    static func sentence(for failure: AgentFailure) -> String {
        switch failure {
        case .notRunning: "the agent is not running; start it with watchword unlock"
        case .folder(.missing):
            "there is no folder for the agent's socket: XDG_RUNTIME_DIR is not set, and /run/user "
                + "has no folder for you; log in again, or set XDG_RUNTIME_DIR to a folder that only "
                + "you can open"
        case .folder(.notPrivate(let path)):
            "\(VisibleText.of(path)): other users can open this folder, so the agent's socket is not "
                + "safe there; run chmod 700 on it"
        case .folder(.notOwned(let path)):
            "\(VisibleText.of(path)): this folder belongs to another user; set XDG_RUNTIME_DIR to a "
                + "folder of your own that only you can open"
        case .folder(.system(let failure)): "the agent's folder: " + sentence(for: failure)
        case .notOurs:
            "another program or file occupies the path of the agent's socket, "
                + "$XDG_RUNTIME_DIR/watchword/agent.sock; remove it"
        case .notSystems:
            "/run/watchword/agent.sock does not belong to the system agent; tell the administrator"
        case .otherVersion:
            "the agent is from a different version of Watchword; run watchword agent stop, then watchword "
                + "unlock"
        case .tooManyClients:
            "too many programs are using the agent; end the waiting programs, and try again"
        case .noResponse: "the agent did not answer; unlock the vault again"
        case .noResponseFromSystem:
            "the system agent did not answer; for the reason, run systemctl status watchword-agent or, as an "
                + "administrator, journalctl -u watchword-agent"
        case .notLocked:
            "the agent did not answer, so the vault may still be unlocked; try again, or end the agent "
                + "with pkill watchword-agent, which locks it"
        case .notLockedBySystem:
            "the system agent did not answer, so the vault may still be unlocked; try again, or have an "
                + "administrator run systemctl stop watchword-agent, which locks it"
        case .systemStopped: "the system agent is not running; " + reasonForStop
        case .malformed: "the agent sent an invalid response; run watchword agent stop"
        case .programNotFound:
            "the program watchword-agent was not found; reinstall Watchword"
        case .notStarted(let failure): "the agent did not start: " + sentence(for: failure)
        case .system(let failure): "the agent: " + sentence(for: failure)
        }
    }

    /// The advice for finding the reason why the system agent cannot be reached.
    static let reasonForStop =
        "for the reason, run systemctl status watchword-agent.socket watchword-agent or, as an "
        + "administrator, journalctl -u watchword-agent"

    static func sentence(for failure: PinEntry.Failure) -> String {
        let packages = PinEntry.packages.joined(separator: ", ")
        return switch failure {
        case .notInstalled:
            "no terminal to prompt on, and pinentry was not found; install one of " + packages
        case .cancelled: "cancelled; nothing was changed"
        case .timedOut: "no passphrase was entered in time; nothing was changed"
        case .refused(let code):
            "pinentry could not ask for the passphrase (error \(code) of libgpg-error); check DISPLAY "
                + "or WAYLAND_DISPLAY, and install one of " + packages
        case .malformed: "pinentry ended, or sent an invalid response"
        case .system(let failure): "pinentry: " + sentence(for: failure)
        }
    }

    static func sentence(for reason: LockReason) -> String {
        switch reason {
        case .olderFile:
            "the agent locked the vault because an older file, or a file without its last changes, "
                + "replaced it"
        case .otherVault: "the agent locked the vault because a different vault replaced it"
        case .rekeyed: "the agent locked the vault because its key was changed"
        }
    }

    /// The note for a vault that the running agent does not hold.
    static func locked(_ program: String) -> String {
        "The vault is locked. To unlock it for all commands, run: \(program) unlock"
    }

    /// The sentence for a vault that the agent no longer holds.
    static func sentenceForLocked(_ reason: LockReason?) -> String {
        let cause = reason.map(sentence) ?? "the agent has locked the vault"
        return cause + "; run the command again to unlock it"
    }

    /// The times for which an unlocked vault stays unlocked.
    static func sentence(for time: HoldingTime) -> String {
        let (idle, total) = (time.idle.wholeSeconds, time.total.wholeSeconds)
        guard idle < total else { return "Unlocked the vault for \(duration(total))." }
        return "Unlocked the vault. It locks after \(duration(idle)) without use, "
            + "and after at most \(duration(total))."
    }

    /// A note about the system agent.
    static let keptBySystem =
        "The system agent keeps the vault: your other programs cannot read it, and checks by PAM "
        + "are enforced."

    /// The line for a user's own agent that is not running.
    static func notRunning(hasSystem: Bool) -> String {
        hasSystem ? "Your own agent is not running." : "The agent is not running."
    }

    /// The vaults that the system agent holds for this user, as lines.
    static func lines(ofSystem status: AgentStatus) -> [String] {
        guard !status.vaults.isEmpty else {
            return ["The system agent is running; no vault is unlocked."]
        }
        return lines(for: status, grade: "system agent: checks by PAM are enforced")
    }

    /// The protections that an agent was started without, as lines.
    private static func weaknesses(of status: AgentStatus) -> [String] {
        (status.locksKeys ? [] : ["The agent's keys may be written to swap."])
            + (status.folders.contains("/") ? ["The agent was started for all folders."] : [])
    }

    /// The warning about a running agent that can access more than a vault's folder.
    static func sentence(forWideAgent folder: String) -> String {
        "the running agent was started for \(VisibleText.of(folder)), which contains the vault's "
            + "folder; if you did not do that, run watchword agent stop"
    }

    /// The vaults that the user's own agent holds, as lines.
    static func lines(for status: AgentStatus) -> [String] {
        lines(for: status, grade: "checks by PAM are advisory")
    }

    private static func lines(for status: AgentStatus, grade: String) -> [String] {
        let weaknesses = weaknesses(of: status)
        guard !status.vaults.isEmpty else {
            return ["The agent is running; no vault is unlocked."] + weaknesses
        }
        return weaknesses
            + status.vaults.map { vault in
                let (idle, total) = (vault.idle.wholeSeconds, vault.total.wholeSeconds)
                let end =
                    idle < total
                    ? "\(duration(idle)) without use, or in \(duration(total)) at the latest"
                    : duration(total)
                return "\(VisibleText.of(vault.path)): unlocked; locks in \(end) (\(grade))"
            }
    }
}
