import CommandLineInterface
import DeviceLogin
import Devices
import Exports
import OneTimePassword
import Pictures
import QRDrawing
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// Why a command failed.
///
/// A case names the place, made safe for a terminal, and the underlying error where there is one;
/// it never contains any content. ``Messages`` provides the message, and ``ExitCode`` the exit
/// status.
enum CommandFailure: ProgramFailure {
    case usage(UsageError)
    // Prompts.
    case terminal(TerminalError, asking: Question)
    /// A window was not shown, or had no answer.
    case pinEntry(PinEntry.Failure)
    case declined
    case passphrasesDiffer
    case emptyPassphrase
    /// A passphrase was given, but none of the vault's slots has one.
    case noPassphrase([SlotSummary])
    case pinsDiffer
    /// The device cannot have this PIN.
    case badPIN(TokenKind)
    case token(TokenHelper.Failure, TokenKind)
    // Input and output.
    case input(String, InputFileError)
    case output(String, OutputFileError)
    case standardOutput(SystemCallFailure)
    case pictureOnTerminal
    case exportOnTerminal
    // The vault and its entries.
    case noHome
    case vault(String, VaultError)
    /// Other users can access the vault, and there is no terminal to ask on.
    case exposed(String, VaultExposure)
    /// A merge whose result is another file would wipe this entry.
    case wipesInMerge(String)
    /// The file of a merge has a newer key; the text says how to merge the other way round.
    case newerKeyInMerge(String, advice: String)
    case presence(PresenceRefusal)
    case recoveryKey(String, RecoveryKeyError)
    case noSuchEntry(String)
    case ambiguousName(String, [String])
    /// Without a question, the first text does not suffice to change the entry with this name.
    case partOfName(String, String)
    case nameTaken(String)
    /// The entry has no such tag.
    case noSuchTag(String, String)
    case noCodes(String, EntryKind)
    /// The failure concerns one of several entries, with this name.
    indirect case inEntry(String, any Error)
    case notPlain(String)
    case nothingToWatch
    /// No entry has codes.
    case nothingToPick
    /// A list could not be shown on the terminal.
    case screen(TerminalError)
    case clipboard(ClipboardFailure)
    /// Every time-based entry requires confirmation at each use.
    case eachRequiresCheck
    /// No entry can be exported in this format.
    case nothingToExport
    // The agent.
    case agent(AgentFailure)
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
    case login(String, DeviceLoginError)
    /// A device key, by the entry's name.
    case deviceKey(String, DeviceLoginError)
    /// The file does not have the form of a confirmation.
    case notAConfirmation(String)
    /// The text and the question take this many rows of a terminal with fewer.
    case textTooTall(needed: Int, available: Int)
    // Parsing and encoding.
    case key(String, OneTimePasswordError)
    /// A URI where a key was expected.
    case uriForKey(String, SecretForm)
    case keyURI(String, OneTimePasswordError)
    case notOneAddress(String, found: Int)
    /// A URI of a kind of code that Watchword does not compute.
    case notComputed(String, UncomputedCode.Kind)
    /// The files to import contain more items than the limit.
    case tooMuchToImport(limit: Int)
    case pictureRefused(String, PictureRefusal)
    /// There is no file to look for QR codes in.
    case noImages
    case pictureReader(HelperFailure)
    case screenshot(ScreenshotFailure)
    case camera(CameraFailure)
    case exportReader(HelperFailure)
    case oneTimePassword(OneTimePasswordError)
    case drawing(QRDrawingError)
    // The system.
    case cryptography(CryptographyFailure)
    case system(SystemCallFailure)
}

extension CommandFailure {
    /// The failure of a command that threw `error`.
    init(_ error: any Error) {
        guard let failure = error as? CommandFailure else {
            preconditionFailure("a command threw another module's error")
        }
        self = failure
    }

    init(_ error: ExportWritingError) {
        self =
            switch error {
            case .drawing(let error): .drawing(error)
            case .cryptography(let failure): .cryptography(failure)
            }
    }

    var sentence: String { Messages.sentence(for: self) }
    var exitCode: ExitCode { ExitCode(self) }

    var facts: [(String, JSONValue)]? {
        switch self {
        case .presence(let refusal): refusal.facts
        case .inEntry(_, let error): CommandFailure(error).facts
        case .vault(_, let error), .login(_, .vault(let error)), .deviceKey(_, .vault(let error)):
            error.isSaved ? [("result", .text("failed")), ("saved", .flag(true))] : nil
        default: nil
        }
    }
}
