import CommandLineInterface
import SecretVault
import WatchwordSystem

// How many times a prompt for a passphrase is repeated, and what happens during a lock-out.

/// The attempts at one prompt; each of them is counted by the vault, too.
struct PromptAttempts {
    private var failures = 0
    private static let limit = 3

    /// Records a failure, and returns whether the command may prompt again.
    ///
    /// It may not once the vault or the entry is locked, or the entry is wiped.
    mutating func allowAnother(after refusal: PresenceRefusal) -> Bool {
        failures += 1
        guard failures < PromptAttempts.limit else { return false }
        switch refusal {
        case .wrongPassphrase, .refused(_, .free, _): return refusal.lockOut == nil
        default: return false
        }
    }
}

extension PresenceRefusal {
    /// The seconds for which the vault or the entry is locked; `nil` if it is not.
    var lockOut: Int64? {
        switch self {
        case .wrongPassphrase(_, let status):
            status.flatMap { $0.lockOut.seconds > 0 ? $0.lockOut.seconds : nil }
        case .vaultLockedOut(_, let seconds), .entryLockedOut(_, let seconds),
            .refused(_, .wait(let seconds), _):
            seconds
        default: nil
        }
    }
}

extension Session {
    /// Whether the command asks for the passphrase or recovery key on the terminal.
    var promptsForOpener: Bool {
        passphraseFile == nil && !arguments.has(.recoveryKeyFile)
    }

    /// Ends the command, instead of prompting for the passphrase, while the vault is locked.
    ///
    /// - Parameter lockOut: the seconds that are left.
    func requireNoLockOut(of path: String, _ lockOut: () throws -> Int64) throws {
        let seconds = try lockOut()
        guard seconds > 0 else { return }
        discardAnswer(duringLockOutOf: seconds)
        // The answer may have taken a while.
        throw CommandFailure.presence(.vaultLockedOut(VisibleText.of(path), seconds: try lockOut()))
    }

    /// The seconds for which the vault at `path` is locked.
    func lockOut(of path: String) throws -> Int64 {
        try CommandFailure.naming(path) { try Vault.lockOut(at: path).seconds }
    }

    /// Says how long the lock-out lasts, and reads one line without echo, where there is a terminal.
    ///
    /// A passphrase that is typed out of habit must not reach the shell.
    func discardAnswer(duringLockOutOf seconds: Int64) {
        // The lock-out is reported in any case, so it does not matter how the prompt ended.
        do { _ = try Question.lockedOut(seconds: seconds).ask() } catch _ {}
    }
}
