import CommandLineInterface
import Devices
import SecretVault
import WatchwordCryptography
import WatchwordSystem

// TPMs and authenticators; only `watchword-token` talks to them.
extension Session {
    /// The method that `--unlock-with` selects; `nil` to use any method of the vault.
    private func wantedMethod() throws -> String? {
        try arguments.choice(.unlockWith)
    }

    /// The secret of the first device that is available.
    ///
    /// - Returns: `nil` if the options choose the passphrase or the recovery key, or if no device
    ///   is available.
    func deviceOpener(_ path: String, slots: [SlotSummary]) throws -> VaultOpener? {
        let wanted = try wantedMethod()
        // A passphrase file in the environment is only a default.
        let givesPassphrase =
            wanted == nil ? passphraseFile != nil : arguments.given(.passphraseFile) != nil
        guard wanted != "passphrase", !givesPassphrase, !isOpenedByRecoveryKey else { return nil }
        let slots = slots.filter {
            $0.token != nil && (wanted == nil || SlotCommand.method($0) == wanted)
        }
        if wanted != nil, slots.isEmpty {
            throw CommandFailure.at(VisibleText.of(path), VaultError.noSuchSlot)
        }
        for (index, slot) in slots.enumerated() {
            // If the user requested a device, and it is the only one, no alternative remains.
            let isOnlyChoice = wanted != nil && index == slots.count - 1
            if let opener = try opener(of: slot, orReport: !isOnlyChoice) { return opener }
        }
        return nil
    }

    /// Gets the secret of the slot's device.
    ///
    /// - Parameter reports: whether an unavailable device is reported and `nil` returned, instead
    ///   of an error.
    private func opener(of slot: SlotSummary, orReport reports: Bool) throws -> VaultOpener? {
        printer.note("Unlocking with slot \(slot.number) (\(Messages.name(of: slot))).")
        do {
            return try opener(of: slot, again: nil)
        } catch CommandFailure.token(let failure, let token)
            where reports && failure.leavesOtherSlots
        {
            printer.note(
                "Slot \(slot.number): \(Messages.sentence(for: failure, of: token)); trying the next "
                    + "way to unlock.")
            return nil
        }
    }

    /// Gets the secret of the slot's device.
    ///
    /// - Parameter purpose: The reason for a repeated prompt; `nil` the first time.
    func opener(of slot: SlotSummary, again purpose: String?) throws -> VaultOpener {
        let result: TokenResponse
        switch slot.method {
        case .tpm2(let object):
            result = try carryOut(
                .unseal(object, in: try tpmAddress()), on: .tpm, again: purpose)
        case .fido2(let credential):
            result = try carryOut(
                .secret(of: credential, device: nil), on: .authenticator, again: purpose)
        case .passphrase, .recoveryKey, .other: preconditionFailure("the slot has a device")
        }
        guard case .secret(let secret) = result else {
            throw CommandFailure.token(.badHelperResponse, slot.token ?? .tpm)
        }
        return .device(secret, of: slot)
    }

    func carryOut(
        _ request: TokenRequest, on token: TokenKind, again purpose: String? = nil
    ) throws -> TokenResponse {
        var person = TokenPerson(session: self, token: token, purpose: purpose)
        do {
            return try TokenHelper().carryOut(request, with: &person)
        } catch {
            // The reason for the missing PIN is more precise than the response.
            if let failure = person.failure { throw failure }
            throw CommandFailure.token(error, token)
        }
    }

    /// `--tpm`, or the computer's TPM.
    func tpmAddress() throws -> TPMAddress {
        guard let text = arguments[.tpm] else { return .standard }
        guard let address = TPMAddress(text) else {
            throw UsageError.badValue(
                Option.tpm.name,
                expected: "device:PATH, or swtpm:host=ADDRESS,port=PORT for the emulator")
        }
        return address
    }

    /// The PIN from `--pin-file`; `nil` without this option.
    func pinFromFile(of token: TokenKind) throws -> SecretBytes? {
        guard let path = arguments[.pinFile] else { return nil }
        warnAboutReaders(of: path)
        let pin = try SecretSource(path).readFirstLine(limit: Session.secretLimit)
        try expectValid(pin, of: token)
        return pin
    }

    /// A new PIN for the TPM: from `--pin-file`, or from two prompts.
    func newPIN() throws -> SecretBytes {
        let pin: SecretBytes
        if let given = try pinFromFile(of: .tpm) {
            pin = given
        } else {
            pin = try Question.newPIN.ask()
            try expectValid(pin, of: .tpm)
            guard try pin == Question.newPINAgain.ask() else { throw CommandFailure.pinsDiffer }
        }
        guard pin.count >= TokenKind.shortestPIN else { throw CommandFailure.badPIN(.tpm) }
        return pin
    }

    /// Throws unless the device can have this PIN.
    fileprivate func expectValid(_ pin: SecretBytes, of token: TokenKind) throws {
        // The device reads a PIN only up to the first zero byte.
        let hasZero = pin.withBytes { pin in pin.indices.contains { pin[$0] == 0 } }
        guard pin.count <= token.longestPIN, !hasZero else { throw CommandFailure.badPIN(token) }
    }
}

/// A kind of device that opens vaults.
enum TokenKind: Hashable, Sendable {
    case tpm
    case authenticator

    /// The length of the shortest new PIN, in bytes.
    static let shortestPIN = 4

    var longestPIN: Int {
        switch self {
        case .tpm: TokenRequest.longestPIN
        case .authenticator: TokenRequest.longestAuthenticatorPIN
        }
    }
}

extension SlotSummary {
    /// The kind of device that opens it; `nil` if it needs none.
    var token: TokenKind? {
        switch method {
        case .tpm2: .tpm
        case .fido2: .authenticator
        case .passphrase, .recoveryKey, .other: nil
        }
    }
}

extension TokenFailure {
    /// Whether the device is currently unavailable, so that a different slot may be tried.
    fileprivate var leavesOtherSlots: Bool {
        switch self {
        // The person made a mistake, or declined.
        case .wrongPIN, .declined, .notTouched: false
        default: true
        }
    }
}

struct TokenPerson: TokenHelper.Person {
    private let session: Session
    private let token: TokenKind
    private let purpose: String?
    /// Becomes ready when the PIN is no longer needed.
    private let end: Polling.Interest?
    /// The reason for the missing PIN.
    private(set) var failure: (any Error)?
    /// Whether the request ended before the PIN was entered.
    private(set) var wasOvertaken = false

    init(
        session: Session, token: TokenKind, purpose: String?, unless end: Polling.Interest? = nil
    ) {
        self.session = session
        self.token = token
        self.purpose = purpose
        self.end = end
    }

    mutating func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? {
        do {
            if session.arguments.has(.pinFile) {
                // The file's PIN was wrong, and is not tried twice.
                return isRepeated ? nil : try session.pinFromFile(of: token)
            }
            if isRepeated { session.printer.complain(Messages.wrongPIN(left: left)) }
            guard let pin = try Question.pin(token, again: purpose).ask(unless: end) else {
                wasOvertaken = true
                return nil
            }
            try session.expectValid(pin, of: token)
            return pin.count > 0 ? pin : nil
        } catch {
            failure = error
            return nil
        }
    }

    mutating func touch(number: Int, of count: Int) {
        session.printer.prompt(Messages.touchRequest(number: number, of: count))
    }
}
