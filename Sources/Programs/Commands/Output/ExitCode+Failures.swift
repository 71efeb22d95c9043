import CommandLineInterface
import DeviceLogin
import Devices
import Pictures
import QRDrawing
import SecretVault
import VaultService
import WatchwordSystem

extension ExitCode {
    /// The exit status for `failure`.
    init(_ failure: CommandFailure) {
        self =
            switch failure {
            case .usage, .pictureOnTerminal, .exportOnTerminal, .noHome: .usage
            case .terminal(let error, _), .screen(let error): ExitCode(error)
            case .pinEntry(.cancelled), .pinEntry(.timedOut): .presence
            case .pinEntry: .system
            case .inEntry(_, let error): ExitCode(CommandFailure(error))
            case .declined, .noSuchEntry, .ambiguousName, .partOfName, .nameTaken, .noSuchTag,
                .noCodes, .notPlain, .nothingToWatch, .nothingToPick, .eachRequiresCheck,
                .nothingToExport, .noImages:
                .no
            case .wipesInMerge, .newerKeyInMerge: .no
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
            case .agent, .noSystemAgent, .keyNotLocked, .weakAgent: .system
            case .agentLocked: .presence
            case .input(_, let error): ExitCode(error)
            case .output(_, let error): ExitCode(error)
            case .pictureRefused(_, let refusal): ExitCode(refusal)
            case .drawing(.libraryMissing), .drawing(.noMemoryForPicture): .system
            case .exposed, .notAConfirmation, .textTooTall, .key, .uriForKey, .keyURI,
                .notOneAddress,
                .notComputed,
                .tooMuchToImport, .oneTimePassword, .drawing:
                .badInput
            case .clipboard, .standardOutput, .screenshot, .camera, .pictureReader,
                .exportReader, .cryptography, .system:
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
                case .noDevice, .noPermission, .busy, .failed, .notConfined, .badAnswer, .noPCR7,
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
            case .noSuchEntry, .nothingToUndo, .vanishedEntries, .copyHasNewerKey, .otherKind,
                .noSuchSlot, .lastSlot,
                .wiped, .vanished,
                .counterExhausted:
                .no
            case .notFound, .otherVault, .alreadyExists, .previousLeft, .reservedPath,
                .previousGeneration, .folder, .symbolicLink,
                .notAFile, .otherOwner, .openToOthers, .tooLarge, .overLimit, .inTheWay,
                .notAVault, .newerVersion, .newerAttempts, .conflictMarkers, .truncated, .damaged,
                .copyDamaged,
                .costOverCeiling, .notEnoughMemory, .spaceAroundName, .invalidTag:
                .badInput
            case .wrongPassphrase, .wrongRecoveryKey, .wrongDevice, .lockedOut, .presenceNeeded,
                .differentCheckRequired, .proofRefused, .wipingDue:
                .presence
            case .writable: .usage
            case .openedReadOnly: .badInput
            case .system(let failure), .notCounted(let failure), .outcomeNotRecorded(let failure):
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
