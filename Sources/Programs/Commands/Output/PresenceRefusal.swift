import Devices
import SecretVault
import WatchwordCoding
import WatchwordSystem

/// Why authentication failed; paths are safe for a terminal.
enum PresenceRefusal {
    /// The passphrase does not open the vault at this path.
    case wrongPassphrase(String, VaultStatus?)
    /// The recovery key does not open the vault at this path.
    case wrongRecoveryKey(String)
    /// The vault at this path is locked for some time.
    case vaultLockedOut(String, seconds: Int64)
    /// The check for the entry failed.
    case refused(EntryName, RefusalCost, AccessControl.OnFailure)
    /// The entry is locked for some time.
    case entryLockedOut(EntryName, seconds: Int64)
    /// PAM returned no result for the entry.
    case pam(EntryName, PAMCheckFailure, AccessControl.Presence)
    /// An option names a different check from the one that the entry requires.
    case differentCheck(EntryName, demanded: EntryCheck)
    /// The entry requires another confirmation, and this source has no more input.
    case nothingFurther(EntryName, String, FileError)
}

extension PresenceRefusal {
    /// The facts that scripts need.
    var facts: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("result", .text("denied"))]
        switch self {
        case .wrongPassphrase(_, let status):
            members.append(("reason", .text("wrong-passphrase")))
            if let status {
                members.append(("failures", .number(status.lockOut.failures)))
                members.append(("retry_after", .number(status.lockOut.seconds)))
                members.append(("wiped", .number(Int64(status.wiped))))
                if let left = status.failuresUntilWipe {
                    members.append(("failures_to_wipe", .number(Int64(left))))
                }
            }
        case .wrongRecoveryKey: members.append(("reason", .text("wrong-recovery-key")))
        case .vaultLockedOut(_, let seconds):
            members += [("reason", .text("locked-out")), ("retry_after", .number(seconds))]
        case .refused(let name, let cost, _):
            members += [("reason", .text("refused")), ("entry", .text(name.text))]
            switch cost {
            case .free, .notCounted: members.append(("retry_after", .number(0)))
            case .wait(let seconds): members.append(("retry_after", .number(seconds)))
            case .wiped: members.append(("wiped", .number(1)))
            }
        case .entryLockedOut(let name, let seconds):
            members += [
                ("reason", .text("locked-out")), ("entry", .text(name.text)),
                ("retry_after", .number(seconds)),
            ]
        case .differentCheck(let name, let demanded):
            members += [
                ("reason", .text("other-check")), ("entry", .text(name.text)),
                ("check", .text(demanded.rawValue)),
            ]
        case .pam(let name, _, _):
            members += [("reason", .text("no-answer")), ("entry", .text(name.text))]
        case .nothingFurther(let name, _, _):
            members += [("reason", .text("no-answer")), ("entry", .text(name.text))]
        }
        return members
    }
}
