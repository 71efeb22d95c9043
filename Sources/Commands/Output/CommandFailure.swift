import Arguments
import Clipboard
import CommandRunner
import Cryptography
import DeviceLogin
import ExportWriting
import HardwareTokens
import ImageFile
import Interchange
import JSONText
import OneTimePassword
import POSIX
import PictureReader
import PresenceDevices
import SecretVault
import SymbolDrawing
import VaultAgent

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
    case presence(PresenceRefusal)
    case recoveryKey(String, RecoveryKeyError)
    case noSuchEntry(String)
    case ambiguousName(String, [String])
    case nameTaken(String)
    /// The entry has no such tag.
    case noSuchTag(String, String)
    case noCodes(String, EntryKind)
    /// The failure concerns one of several entries, with this name.
    indirect case inEntry(String, CommandFailure)
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
    // Parsing and encoding.
    case key(String, Base32Error)
    case hexKey(String, HexadecimalError)
    /// A URI where a key was expected.
    case uriForKey(String, SecretForm)
    case keyURI(String, KeyURIError)
    case notOneAddress(String, found: Int)
    /// A URI of a kind of code that Watchword does not compute.
    case notComputed(String, UncomputedCode.Kind)
    /// The files to import contain more items than the limit.
    case tooMuchToImport(limit: Int)
    case pictureRefused(String, PictureRefusal)
    case pictureReader(HelperFailure)
    case screenshot(ScreenshotFailure)
    case camera(CameraFailure)
    case exportReader(HelperFailure)
    case picture(PNGWritingError)
    case code(CodeError)
    case credential(CredentialError)
    case symbol(SymbolDrawingError)
    // The system.
    case cryptography(CryptographyFailure)
    case system(SystemCallFailure)
}

extension CommandFailure {
    init(_ error: ExportWritingError) {
        self =
            switch error {
            case .symbol(let error): .symbol(error)
            case .cryptography(let failure): .cryptography(failure)
            }
    }

    var sentence: String { Messages.sentence(for: self) }
    var exitCode: ExitCode { ExitCode(self) }

    var facts: JSONValue? {
        switch self {
        case .presence(let refusal): refusal.facts
        case .inEntry(_, let failure): failure.facts
        default: nil
        }
    }
}

extension ExitCode {
    /// The exit status for `failure`.
    init(_ failure: CommandFailure) {
        self =
            switch failure {
            case .usage, .pictureOnTerminal, .exportOnTerminal, .noHome: .usage
            case .terminal(let error, _), .screen(let error): ExitCode(error)
            case .pinEntry(.cancelled), .pinEntry(.timedOut): .presence
            case .pinEntry: .system
            case .inEntry(_, let failure): ExitCode(failure)
            case .declined, .noSuchEntry, .ambiguousName, .nameTaken, .noSuchTag, .noCodes,
                .notPlain, .nothingToWatch, .nothingToPick, .eachRequiresCheck, .nothingToExport:
                .no
            case .vault(_, let error): ExitCode(error)
            case .noVaultWhileStopped: ExitCode(VaultError.notFound)
            case .recoveryKey, .moveRefused, .moveUnchecked: .presence
            case .presence(let refusal): ExitCode(refusal)
            case .login(_, let error), .deviceKey(_, let error): ExitCode(error)
            case .passphrasesDiffer, .emptyPassphrase, .noPassphrase, .pinsDiffer, .badPIN:
                .presence
            case .token(let failure, _): ExitCode(failure)
            case .agent(.notOurs), .agent(.notSystems), .agent(.folder(.notPrivate)),
                .agent(.folder(.notOwned)), .outOfReach, .keptBySystem, .moveUnfinished, .twoVaults,
                .systemCost:
                .badInput
            case .agent, .noSystemAgent: .system
            case .agentLocked: .presence
            case .input(_, let error): ExitCode(error)
            case .output(_, let error): ExitCode(error)
            case .pictureRefused(_, let refusal): ExitCode(refusal)
            case .symbol(.libraryMissing): .system
            case .exposed, .notAConfirmation, .key, .hexKey, .uriForKey, .keyURI, .notOneAddress,
                .notComputed,
                .tooMuchToImport, .code, .credential, .symbol:
                .badInput
            case .clipboard, .standardOutput, .screenshot, .camera, .pictureReader,
                .exportReader, .picture, .cryptography, .system:
                .system
            }
    }

    private init(_ error: TerminalError) {
        self =
            switch error {
            case .none, .ended, .interrupted: .presence
            case .tooLong: .badInput
            case .system: .system
            }
    }

    /// The exit status for a device's refusal.
    init(_ failure: TokenHelper.Failure) {
        self =
            switch failure {
            case .helper, .timedOut, .badAnswer: .system
            case .refused(let refusal):
                switch refusal {
                case .noDevice, .noPermission, .failed, .notConfined, .badAnswer, .noPCR7,
                    .ownerPassword, .noCertificate, .notSupported:
                    .system
                case .badRequest: .badInput
                case .otherDevice, .wrongPIN, .noPIN, .lockedOut, .changedPCR7, .blockedPIN,
                    .needsReinsertion, .noPINSet, .notTouched, .declined, .severalDevices:
                    .presence
                }
            }
    }

    private init(_ refusal: PresenceRefusal) {
        self = .presence
        if case .pam(_, let failure, _) = refusal, case .system = failure.reason { self = .system }
    }

    init(_ error: VaultError) {
        self =
            switch error {
            case .noSuchEntry, .nothingToUndo, .otherKind, .noSuchSlot, .lastSlot, .wiped,
                .counterExhausted:
                .no
            case .notFound, .otherVault, .alreadyExists, .previousLeft, .reservedPath,
                .previousGeneration, .folder, .symbolicLink,
                .notAFile, .otherOwner, .openToOthers, .overLimit, .inTheWay,
                .notAVault, .newerVersion, .newerAttempts, .truncated, .damaged, .copyDamaged,
                .costOverCeiling, .notEnoughMemory, .spaceAroundName, .invalidTag:
                .badInput
            case .wrongPassphrase, .wrongRecoveryKey, .wrongDevice, .lockedOut, .presenceNeeded,
                .differentCheckRequired, .proofRefused, .wipingDue:
                .presence
            case .writable: .usage
            case .openedReadOnly: .badInput
            case .system(let failure), .notCounted(let failure):
                failure.isPermissionDenied ? .badInput : .system
            case .busy, .replaced, .changedMeanwhile, .rekeyed, .previousNotErased, .notConfirmed,
                .cryptography:
                .system
            }
    }

    /// The exit status for an image that was refused.
    init(_ refusal: PictureRefusal) {
        self =
            switch refusal {
            case .noSymbol: .no
            case .unreadable(let failure):
                failure.isMissing || failure.isPermissionDenied ? .badInput : .system
            default: .badInput
            }
    }

    private init(_ error: InputFileError) {
        if case .system = error { self = .system } else { self = .badInput }
    }

    private init(_ error: OutputFileError) {
        if case .system = error { self = .system } else { self = .badInput }
    }
}
