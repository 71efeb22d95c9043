import CommandLineInterface
import DeviceLogin
import Devices
import SecretVault
import VaultService
import WatchwordSystem

extension Messages {
    /// A slot's method of opening the vault, as a noun phrase.
    static func name(of slot: SlotSummary) -> String {
        switch slot.method {
        case .passphrase: "passphrase"
        case .recoveryKey: "recovery key"
        case .tpm2(let object):
            "TPM 2" + (object.requiresPIN ? " with PIN" : ", no PIN")
                + (object.isBoundToPCR7 ? ", PCR 7" : "")
        case .fido2(let credential):
            "FIDO2 authenticator" + (credential.requiresPIN ? " with PIN" : ", touch only")
        case .other(let name): VisibleText.of(name)
        }
    }

    /// The methods of opening the vault, as one line.
    static func openers(of slots: [SlotSummary]) -> String {
        "opened by: " + slots.map { "\(name(of: $0)) (slot \($0.number))" }.joined(separator: ", ")
    }

    /// The attacks that device slots do not prevent; `nil` if there are no device slots.
    static func advice(about slots: [SlotSummary], _ program: String) -> String? {
        guard slots.contains(where: { $0.token != nil }) else { return nil }
        // The last slot that opens the vault on any computer cannot be removed.
        let isLast = !slots.contains { $0.method == .recoveryKey }
        return slots.contains(where: \.isPassphrase)
            ? "A copy of the vault can be unlocked by guessing the passphrase; to prevent this, run: "
                + (isLast ? "\(program) slot add recovery-key && " : "")
                + "\(program) slot remove passphrase"
            : "A copy of the vault cannot be unlocked by guessing. If the devices are lost, only the "
                + "recovery key opens it."
    }

    /// The effect of removing the last passphrase; `nil` for a different slot.
    static func warning(forRemoving slot: SlotSummary, leaving rest: [SlotSummary]) -> String? {
        guard slot.isPassphrase, !rest.contains(where: \.isPassphrase) else { return nil }
        let kinds = rest.compactMap(\.token)
        let devices = [TokenKind.tpm, .authenticator].filter(kinds.contains).map {
            "the " + name(of: $0)
        }
        return devices.isEmpty
            ? "without this passphrase, only the recovery key opens the vault; if you lose it, the vault "
                + "is lost"
            : "without this passphrase, only " + devices.joined(separator: ", ")
                + " and the recovery key open the vault"
    }

    static func name(of token: TokenKind) -> String {
        switch token {
        case .tpm: "TPM"
        case .authenticator: "authenticator"
        }
    }

    static func touchRequest(number: Int, of count: Int) -> String {
        count > 1 ? "Touch the authenticator (\(number) of \(count))." : "Touch the authenticator."
    }

    static func wrongPIN(left: UInt32?) -> String {
        guard let left else { return "wrong PIN" }
        return "wrong PIN; \(left) \(left == 1 ? "attempt" : "attempts") left"
    }

    static func sentence(for failure: TokenFailure, of token: TokenKind) -> String {
        let device = name(of: token)
        switch failure {
        case .helper(let failure):
            return HelperMessages.sentence(
                forReader: failure, "watchword-token", startedBy: Verb.program)
        case .timedOut:
            return "the \(device) did not answer in time; try again, and if that does not help, "
                + (token == .tpm ? "restart the computer" : "remove it and insert it again")
        case .badHelperResponse: return "watchword-token sent an invalid response"
        case .noDevice:
            return token == .tpm
                ? "no TPM 2 was found; enable it in the firmware, or specify a TPM with --tpm"
                : "no FIDO2 authenticator is connected"
        case .noPermission:
            return token == .tpm
                ? "no permission to open the TPM; install the package tpm-udev, join the group tss, and "
                    + "log in again"
                : "no permission to open the authenticator; use it from a local login session"
        case .busy:
            return "the \(device) is busy with another program; close it and try again"
                + (token == .tpm
                    ? ", or use --tpm device:/dev/tpmrm0, which programs can share" : "")
        case .otherDevice:
            return token == .tpm
                ? "the slot belongs to a different TPM, or this one was cleared"
                : "the slot belongs to a different authenticator, or this one was reset"
        case .wrongPIN(let left): return wrongPIN(left: left)
        case .noPIN: return "no PIN was entered"
        case .failed(let call, let code):
            return "the \(device) failed (\(call), 0x\(String(code, radix: 16)))"
        case .notConfined(let failure):
            return "watchword-token could not give up its privileges, so it did nothing: "
                + sentence(for: failure)
        case .badDeviceResponse: return "the \(device) sent an invalid response"
        case .badRequest:
            return "the slot was damaged or tampered with; remove it and add it again"
        case .lockedOut(let seconds?):
            return
                "the TPM accepts no PIN after too many failures; the next attempt is possible after at most "
                + duration(Int64(seconds))
        case .lockedOut(nil):
            return "the TPM accepts no PIN after too many failures; try again later"
        case .changedPCR7:
            return "PCR 7 has changed (Secure Boot or its keys); if you expected this, remove the "
                + "slot and add it again"
        case .noPCR7: return "the TPM has no PCR 7 for SHA-256; omit --pcr7"
        case .noCertificate:
            return "the TPM has no certificate from its maker; enrol the device without --attest"
        case .ownerPassword:
            return "the TPM's storage hierarchy has a password, which is not supported"
        case .blockedPIN:
            return "the authenticator blocked its PIN after too many failures and must be reset"
        case .needsReinsertion:
            return "the authenticator accepts no more PINs now; remove it and insert it again"
        case .noPINSet: return "the authenticator has no PIN; set one, or use --no-pin"
        case .notTouched: return "nobody touched the authenticator in time"
        case .declined: return "the authenticator declined"
        case .notSupported: return "the authenticator does not support hmac-secret"
        case .severalDevices:
            return "several authenticators are connected; choose one with --device (fido2-token -L "
                + "lists them)"
        }
    }
}

// Entries that are bound to a device.
extension Messages {
    /// How an entry is bound to this device, after “opens only on this device”.
    static func description(of binding: DeviceBinding) -> String {
        switch binding {
        case .tpm: "with a key sealed by its TPM"
        case .agent: "with a key kept by the system agent"
        case .file: "with a key in a file"
        }
    }

    static let newFormat =
        "older versions of Watchword cannot open this vault from now on (format 4)"

    static let olderCopiesOpen =
        "the vault's previous generation was erased, but older copies of the vault, backups and "
        + "git's history still contain this secret without its binding; if that matters, enrol again "
        + "or get a new key"

    /// The reason why the secret of an entry that is bound to a device was not opened, and the next
    /// step.
    static func sentence(forClosed entry: EntrySummary, _ error: VaultError) -> String {
        let name = "“\(entry.name.visible)”"
        let wayOut =
            entry.kind == .enrolled
            ? "enrol this device again" : "get a new secret from the issuer, and remove this entry"
        switch error {
        case .boundElsewhere:
            let device = VisibleText.of(entry.binding?.name ?? "")
            let folder = folderOfKeys(entry.binding?.binding)
            return "\(name) opens only on “\(device)”; "
                + (entry.kind == .enrolled
                    ? "enrol this device under a different name, or, if that device or its key is gone, "
                        + "remove the entry (watchword remove) and enrol again"
                    : "if this is that device, its key is missing from \(folder): restore the folder, "
                        + "or else \(wayOut)")
        case .deviceKey(let problem):
            let isLost =
                switch problem {
                case .missing, .damaged, .token(.otherDevice), .token(.badRequest): true
                default: false
                }
            return "\(name): " + sentence(for: problem, entry.binding?.binding)
                + (isLost ? ", or \(wayOut)" : "")
        default: return "\(name): " + sentence(for: error)
        }
    }

    /// The folder with a key of this binding, for commands.
    private static func folderOfKeys(_ binding: DeviceBinding?) -> String {
        let system = "\(VaultPlace.ofSystem.folderPath)/device-keys"
        guard binding != .agent else { return system }
        // This function cannot determine who keeps the vault.
        let mayBeSystem =
            binding != .file && SystemFolder.owner(of: SystemAgent.stateFolder) != nil
        return ShellWord.quoted(Session.deviceKeyFolder ?? "device-keys")
            + (mayBeSystem ? " (in the system agent: \(system))" : "")
    }

    /// The reason why a device key could not be made or used.
    static func sentence(
        for problem: DeviceKeyProblem, _ binding: DeviceBinding? = nil
    ) -> String {
        let folder = folderOfKeys(binding)
        return switch problem {
        case .missing: "its device key is no longer there; restore \(folder)"
        case .damaged, .token(.badRequest): "its device key is damaged; restore \(folder)"
        case .openToOthers:
            "other users can access the device key; run: chmod -R go= \(folder)"
        case .otherOwner:
            "the device key belongs to another user; as root, use chown -R to give \(folder) back "
                + "to its user"
        case .inTheWay:
            "a different file, such as a symbolic link, has replaced the device key; put the key's "
                + "own folder and file back into \(folder)"
        case .notPlace(.agent):
            "only the system agent supports the binding “agent”; use tpm or file"
        case .notPlace: "the system agent keeps this vault; use tpm or agent"
        case .otherTPM: sentence(forKey: .otherTPM)
        case .notLocked: "no memory can be locked for the device key, so it was not used"
        case .token(.otherDevice):
            "the TPM was cleared or replaced since the entry was bound; use the former TPM"
        // A key is sought where it was made, regardless of --tpm.
        case .token(.noDevice):
            "the TPM could not be used: no TPM 2 was found; enable it in the firmware; nothing was changed"
        case .token(let failure):
            "the TPM could not be used: \(sentence(for: failure, of: .tpm)); nothing was changed"
        case .file(let failure):
            "the device key cannot be read or written: \(sentence(for: failure)); "
                + (failure.isWriteForbidden ? "give yourself access to " : "check ") + folder
        }
    }

    /// The reason why a fingerprint check is not sufficient.
    static func sentence(for difference: FingerDifference) -> String {
        switch difference {
        case .changed:
            "your enrolled fingers have changed since the agent recorded them (fprintd)"
        case .noFinger: "no finger is enrolled for you (fprintd)"
        case .unreachable: "fprintd did not report which fingers are enrolled for you"
        case .damaged:
            "the agent's record of fingers is damaged; root can remove "
                + "/var/lib/watchword-agent/\(CurrentProcess.user)/fingers"
        }
    }
}

extension VaultError {
    /// Whether the error means that an entry that is bound to a device was not opened.
    var isOfDevice: Bool {
        switch self {
        case .boundElsewhere, .deviceKey: true
        default: false
        }
    }
}
