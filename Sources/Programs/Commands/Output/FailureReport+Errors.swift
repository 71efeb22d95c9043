import CommandLineInterface
import Courier
import DeviceLogin
import Devices
import Exports
import OneTimePassword
import Pictures
import ProcessConfinement
import QRDrawing
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

extension FailureReport {
    /// The report about an error of this module or of any other.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure:
            self.init(Messages.sentence(for: failure), ExitCode(failure), failure.facts)
        case let error as UsageError: self.init(Messages.sentence(for: error), .usage)
        case let error as VaultError:
            self.init(Messages.sentence(for: error), ExitCode(error), error.facts)
        case let error as AgentFailure: self.init(Messages.sentence(for: error), ExitCode(error))
        case let error as DeviceLoginError:
            self.init(Messages.sentence(for: error), ExitCode(error), error.facts)
        case let error as FileError: self.init(Messages.sentence(for: error), ExitCode(error))
        case let error as OneTimePasswordError: self.init(Messages.sentence(for: error), .badInput)
        case let error as QRDrawingError: self.init(Messages.sentence(for: error), ExitCode(error))
        case let failure as HTTPHelperFailure:
            self.init(Messages.courier(at: nil).sentence(for: failure), ExitCode(failure))
        case let failure as ClipboardFailure: self.init(Messages.sentence(for: failure), .system)
        case let failure as CryptographyFailure: self.init(Messages.sentence(for: failure), .system)
        case let failure as SystemCallFailure: self.init(Messages.sentence(for: failure), .system)
        default: self.init(unexpected: error)
        }
    }
}

extension CommandFailure {
    fileprivate var facts: Record? {
        switch self {
        case .presence(let refusal): refusal.facts
        case .at(_, let error), .inEntry(_, let error): Self.facts(of: error)
        case .deviceKey(_, let error): error.facts
        case .closed(let entry, _):
            (entry.binding?.binding).record + [
                ("device", .text(entry.binding?.name ?? "")), ("result", .text("failed")),
            ]
        default: nil
        }
    }

    private static func facts(of error: any Error) -> Record? {
        switch error {
        case let failure as CommandFailure: failure.facts
        case let error as VaultError: error.facts
        case let error as DeviceLoginError: error.facts
        default: nil
        }
    }
}

extension DeviceLoginError {
    fileprivate var facts: Record? {
        if case .vault(let error) = self { error.facts } else { nil }
    }
}

extension VaultError {
    fileprivate var facts: Record? {
        isSaved ? [("result", .text("failed")), ("saved", .flag(true))] : nil
    }
}

extension ExitCode {
    /// The exit status for `failure`.
    init(_ failure: CommandFailure) {
        self =
            switch failure {
            case .at(_, is HelperFailure): .system
            case .at(_, let error), .inEntry(_, let error): FailureReport(error).exitCode
            case .pictureOnTerminal, .exportOnTerminal, .noHome, .fingersInOwnVault,
                .edit(.emptyName), .edit(.period):
                .usage
            case .edit(.nameTaken), .edit(.noSuchTag): .no
            case .edit(.emptyKey), .edit(.tooLong): .badInput
            case .terminal(let error, _), .screen(let error): ExitCode(error)
            case .pinEntry(.cancelled), .pinEntry(.timedOut): .presence
            case .pinEntry: .system
            case .declined, .noSuchEntry, .noSuchTag, .noTaggedEntry, .ambiguousName, .partOfName,
                .nameTaken, .noCodes, .notPlain, .nothingToWatch, .nothingToPick,
                .eachRequiresCheck,
                .nothingToExport, .noImages:
                .no
            case .wipesInMerge, .newerKeyInMerge: .no
            case .noVaultWhileStopped: ExitCode(VaultError.notFound)
            case .moveRefused, .moveUnchecked: .presence
            case .presence(let refusal): ExitCode(refusal)
            case .deviceKey(_, let error): ExitCode(error)
            case .closed(_, let error): ExitCode(error)
            case .fingersDiffer: .presence
            case .passphrasesDiffer, .emptyPassphrase, .noPassphrase, .pinsDiffer, .badPIN:
                .presence
            case .token(let failure, _): ExitCode(failure)
            case .agentLocked: .presence
            case .pictureRefused(_, let refusal): ExitCode(refusal)
            case .outOfReach, .keptBySystem, .moveUnfinished, .twoVaults, .systemCost, .exposed,
                .notAConfirmation, .textTooTall, .uriForKey, .keyURI, .notOneAddress, .notComputed,
                .tooMuchToImport:
                .badInput
            case .noSystemAgent, .keyNotLocked, .weakAgent, .standardOutput, .screenshot, .camera:
                .system
            }
    }

    fileprivate init(_ failure: AgentFailure) {
        self =
            switch failure {
            case .notOurs, .notSystems, .folder(.notPrivate), .folder(.notOwned): .badInput
            default: .system
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
    init(_ failure: TokenFailure) {
        self =
            switch failure {
            case .helper, .timedOut, .badHelperResponse, .noDevice, .noPermission, .busy, .failed,
                .notConfined, .badDeviceResponse, .noPCR7, .ownerPassword, .noCertificate,
                .notSupported:
                .system
            case .badRequest: .badInput
            case .otherDevice, .wrongPIN, .noPIN, .lockedOut, .changedPCR7, .blockedPIN,
                .needsReinsertion, .noPINSet, .notTouched, .declined, .severalDevices:
                .presence
            }
    }

    private init(_ refusal: PresenceRefusal) {
        self = .presence
        if case .pam(_, let failure, _) = refusal, case .system = failure.reason { self = .system }
    }

    init(_ error: VaultError) {
        self =
            switch error {
            case .noSuchEntry, .nothingToUndo, .vanishedEntries, .copyHasNewerKey, .otherKind,
                .noSuchSlot, .lastSlot, .wiped, .vanished, .boundElsewhere, .counterExhausted:
                .no
            case .notFound, .otherVault, .alreadyExists, .previousLeft, .reservedPath,
                .previousGeneration, .folder, .symbolicLink,
                .notAFile, .otherOwner, .openToOthers, .tooLarge, .overLimit, .inTheWay,
                .notAVault, .newerVersion, .newerAttempts, .conflictMarkers, .truncated, .damaged,
                .copyDamaged,
                .costOverCeiling, .notEnoughMemory, .spaceAroundName, .invalidTag:
                .badInput
            case .wrongPassphrase, .wrongRecoveryKey, .wrongDevice, .lockedOut, .presenceNeeded,
                .differentCheckRequired, .proofRefused, .wipingDue, .recoveryKeyLength,
                .recoveryKeyCharacter, .recoveryKeyMistyped:
                .presence
            case .writable, .deviceKey(.notPlace): .usage
            case .openedReadOnly: .badInput
            case .system(let failure), .notCounted(let failure), .outcomeNotRecorded(let failure):
                failure.isPermissionDenied ? .badInput : .system
            case .busy, .replaced, .changedMeanwhile, .rekeyed, .previousNotErased, .notConfirmed,
                .cryptography, .deviceKey:
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

    fileprivate init(_ error: QRDrawingError) {
        self =
            switch error {
            case .empty, .tooLong, .encodingFailed: .badInput
            case .libraryMissing, .noMemoryForPicture: .system
            }
    }

    fileprivate init(_ error: FileError) {
        if case .system = error { self = .system } else { self = .badInput }
    }
}
