import CommandLineInterface
import DeviceLogin
import Devices
import OneTimePassword
import Pictures
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// The reason why a command failed.
///
/// Errors of other modules pass through a command unchanged. A case may name entries, files and
/// other places, made safe for a terminal, and the underlying error; it never contains any content.
/// ``FailureReport`` contains the output for each case.
enum CommandFailure: ProgramFailure {
    /// The failure concerns the file, input, vault, entry or helper with this name.
    indirect case at(String, any Error)
    /// The failure concerns one of several entries, with this name.
    indirect case inEntry(String, any Error)
    case terminal(TerminalError, asking: Question)
    /// A window was not shown, or was not answered.
    case pinEntry(PinEntry.Failure)
    case declined
    case passphrasesDiffer
    case emptyPassphrase
    /// A passphrase was given, but the vault has no passphrase slot.
    case noPassphrase([SlotSummary])
    case pinsDiffer
    /// The device cannot have this PIN.
    case badPIN(TokenKind)
    case token(TokenFailure, TokenKind)
    case standardOutput(SystemCallFailure)
    case pictureOnTerminal
    case exportOnTerminal
    // The vault and its entries.
    case noHome
    /// Other users can access the vault, and there is no terminal for the question.
    case exposed(String, VaultExposure)
    /// A merge into a file other than the vault would wipe this entry.
    case wipesInMerge(String)
    /// The other file has a newer key; the text explains how to merge in the other direction.
    case newerKeyInMerge(String, advice: String)
    case presence(PresenceRefusal)
    /// The vault refused an edit.
    case edit(EditRefusal)
    case noSuchEntry(String)
    /// No entry has this tag; `known` are the existing tags.
    case noSuchTag(String, known: [String])
    /// No entry has all of these tags, or no entry with these tags matches the name.
    case noTaggedEntry([String], name: String?)
    case ambiguousName(String, [String])
    /// If no person is asked, the first text is not enough to change the entry with this name.
    case partOfName(String, String)
    case nameTaken(String)
    case noCodes(String, EntryKind)
    case notPlain(String)
    case nothingToWatch
    /// No entry has codes.
    case nothingToPick
    /// A list could not be shown on the terminal.
    case screen(TerminalError)
    /// Every time-based entry requires a check at each use.
    case eachRequiresCheck
    /// No entry can be exported in this format.
    case nothingToExport
    /// The secret of this entry, which is bound to a device, cannot be opened.
    case closed(EntrySummary, VaultError)
    /// The user's enrolled fingers do not permit the check.
    case fingersDiffer(FingerDifference)
    /// `--fingers` was given, but only the system agent records fingers.
    case fingersInOwnVault
    // The agent.
    /// The agent no longer holds the vault, for this reason if it is known.
    case agentLocked(LockReason?)
    /// The running agent cannot reach the folder of the vault at this path.
    case outOfReach(String)
    /// The agent cannot lock memory for the key; whether it is the system agent.
    case keyNotLocked(bySystem: Bool)
    /// The running agent keeps keys where they may be written to swap.
    case weakAgent
    /// The system agent keeps the vault, and the command needs the file.
    case keptBySystem
    /// No system agent is installed.
    case noSystemAgent
    /// There is no vault at this path, and the system agent, which may keep it, is not running.
    case noVaultWhileStopped(String)
    /// The user's own folder and the system agent have different vaults, at these paths.
    case twoVaults(String, String)
    /// The vault is being moved to or from the system agent.
    case moveUnfinished
    /// The check that moving the vault from the system agent requires failed, at this cost.
    case moveRefused(RefusalCost)
    /// PAM returned no result for that check.
    case moveUnchecked(PAMCheckFailure)
    /// Unlocking the vault costs more than the system agent accepts.
    case systemCost(logN: Int, limit: Int)
    // Signing in.
    /// A device key, by the entry's name.
    case deviceKey(String, DeviceLoginError)
    /// The file does not have the form of a confirmation.
    case notAConfirmation(String)
    /// The text and the question need more rows than the terminal has.
    case textTooTall(needed: Int, available: Int)
    // Parsing and encoding.
    /// A URI where a key was expected.
    case uriForKey(String, SecretForm)
    /// A key URI that cannot be read.
    case keyURI(String, OneTimePasswordError)
    case notOneAddress(String, found: Int)
    /// A URI of a kind of code that Watchword does not compute.
    case notComputed(String, UncomputedCode.Kind)
    /// The files to import contain more items than the limit.
    case tooMuchToImport(limit: Int)
    case pictureRefused(String, PictureRefusal)
    /// There is no file in which to look for QR codes.
    case noImages
    case screenshot(ScreenshotFailure)
    case camera(CameraFailure)
}

extension CommandFailure {
    /// Adds the name of the file, input, vault or helper program to a failure of `body`.
    static func naming<Result: ~Copyable>(
        _ place: String, _ body: () throws -> Result
    ) throws -> Result {
        try naming(visible: VisibleText.of(place), body)
    }

    /// Runs `body`; if it fails, the error names a place that is already safe for a terminal.
    static func naming<Result: ~Copyable>(
        visible place: String, _ body: () throws -> Result
    ) throws -> Result {
        do { return try body() } catch { throw CommandFailure.at(place, error) }
    }

    static func report(on error: any Error) -> FailureReport { FailureReport(error) }
}

/// The reason why authentication failed; paths are safe for a terminal.
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
    /// An option specifies a different check than the entry requires.
    case differentCheck(EntryName, demanded: EntryCheck)
    /// The entry requires a further check, and this source has no more input.
    case nothingFurther(EntryName, String, FileError)
}

extension PresenceRefusal {
    var facts: Record {
        var members: Record = [("result", .text("denied"))]
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
