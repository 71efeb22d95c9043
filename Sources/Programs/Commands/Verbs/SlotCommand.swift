import CommandLineInterface
import Devices
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `slot list`, `slot add`, `slot remove`, `passphrase` and `rekey`.
enum SlotCommand {
    static func list(_ session: Session) throws -> ExitCode {
        let vault = try session.openVault()
        for slot in vault.slots {
            let created = Timestamp(unixTime: slot.created).text
            var record: Record = [
                ("created_at", .text(created)), ("method", .text(method(slot))),
                ("number", .number(Int64(slot.number))),
                ("used", .flag(slot.number == vault.openedSlot)),
            ]
            var line = "\(slot.number)  \(method(slot))"
            switch slot.method {
            case .passphrase(let logN):
                record.append(("scrypt_log_n", .number(Int64(logN))))
                line += "  scrypt 2^\(logN)"
            case .tpm2(let object):
                record.append(("pcr7", .flag(object.isBoundToPCR7)))
                record.append(("pin", .flag(object.requiresPIN)))
                line += object.requiresPIN ? "  PIN" : "  no PIN"
                if object.isBoundToPCR7 { line += ", PCR 7" }
            case .fido2(let credential):
                record.append(("pin", .flag(credential.requiresPIN)))
                line += credential.requiresPIN ? "  PIN" : "  touch only"
            case .recoveryKey, .other: break
            }
            record = record.filling(["pcr7", "pin", "scrypt_log_n"]).byName
            try session.print(record, orLine: "\(line)  \(created)")
        }
        return .done
    }

    private static let methods = ["passphrase", "recovery-key", "tpm2", "fido2"]

    static func method(_ slot: SlotSummary) -> String {
        switch slot.method {
        case .passphrase: "passphrase"
        case .recoveryKey: "recovery-key"
        case .tpm2: "tpm2"
        case .fido2: "fido2"
        case .other(let name): VisibleText.of(name)
        }
    }

    /// The options that apply only to some kinds of slots.
    private static let optionsOfAdd: [(Option, kinds: [String])] = [
        (.newPassphraseFile, ["passphrase"]), (.scryptLogN, ["passphrase"]),
        (.noPIN, ["tpm2", "fido2"]), (.pcr7, ["tpm2"]), (.device, ["fido2"]),
    ]

    static func add(_ session: Session) throws -> ExitCode {
        let kind = session.arguments.operands[0]
        for (option, kinds) in optionsOfAdd
        where !kinds.contains(kind) && session.arguments.has(option) {
            throw UsageError.inapplicableOption(option.name, verb: "slot add \(kind)")
        }
        let cost = try session.cost()
        let now = SystemClock.unixTime()
        switch kind {
        case "passphrase":
            let vault = try session.unlockToChangeSlots()
            let passphrase = try session.newPassphrase(from: .newPassphraseFile)
            let number = try session.change(vault) { changes throws(VaultError) in
                try changes.addPassphrase(passphrase, cost: cost, now: now)
            }
            session.printer.note("Added slot \(number).")
            session.warnAboutCost(vault.unlockCost)
        case "recovery-key":
            let vault = try session.unlockToChangeSlots()
            try InitCommand.addRecoveryKey(session) { key in
                try session.change(vault) { changes throws(VaultError) in
                    try changes.addRecoveryKey(key, now: now)
                }
            }
        case "tpm2": try SlotAddTokenCommand.addTPM(session)
        case "fido2": try SlotAddTokenCommand.addAuthenticator(session)
        default:
            throw UsageError.needsOneOf(
                ["passphrase", "recovery-key", "tpm2", "fido2"].map { "slot add \($0)" })
        }
        return .done
    }

    static func remove(_ session: Session) throws -> ExitCode {
        let word = session.arguments.operands[0]
        guard Int(word) != nil || methods.contains(word) else {
            throw UsageError.badOperand(
                "SLOT", expected: "a slot number or type from watchword slot list")
        }
        let vault = try session.unlockToChangeSlots()
        let slots = vault.slots.filter { String($0.number) == word || method($0) == word }
        guard let slot = slots.first else {
            throw VaultError.noSuchSlot
        }
        guard slots.count == 1 else {
            throw UsageError.needsOneOf(slots.map { "slot remove \($0.number)" })
        }
        let number = slot.number
        // Refuse an impossible removal before the prompt.
        try vault.rehearse { changes throws(VaultError) in
            try changes.removeSlot(slot, keepsKey: true)
        }
        let rest = vault.slots.filter { $0.number != number }
        if let warning = Messages.warning(forRemoving: slot, leaving: rest) {
            session.printer.warn(warning)
        }
        if !session.arguments.has(.yes) {
            try Question.confirm("Remove slot \(number) (\(method(slot)))?")
        }
        let keepsKey = session.arguments.has(.keepKey)
        try session.change(vault) { changes throws(VaultError) in
            try changes.removeSlot(slot, keepsKey: keepsKey)
        }
        session.printer.note("Removed slot \(number).")
        return .done
    }

    /// `passphrase`: changes the passphrase that unlocked the vault, or that of `--slot`.
    static func changePassphrase(_ session: Session) throws -> ExitCode {
        let cost = try session.statedCost()
        let wanted = try session.arguments.integer(.slot, in: 1...Int(Int32.max))
        let vault = try session.unlockToChangeSlots()
        let slot = try slotToChange(wanted, of: vault)
        let passphrase = try session.newPassphrase(from: .newPassphraseFile)
        let now = SystemClock.unixTime()
        let keepsKey = session.arguments.has(.keepKey)
        try session.change(vault) { changes throws(VaultError) in
            if let slot {
                try changes.changePassphrase(
                    of: slot, to: passphrase, cost: cost, now: now, keepsKey: keepsKey)
            } else {
                try changes.addPassphrase(passphrase, cost: cost ?? .standard, now: now)
            }
        }
        session.printer.note("Changed the passphrase.")
        session.warnAboutCost(vault.unlockCost)
        return .done
    }

    /// `rekey`: gives the vault a new key.
    static func rekey(_ session: Session) throws -> ExitCode {
        let vault = try session.unlock()
        try session.change(vault) { changes throws(VaultError) in try changes.rekey() }
        session.printer.note("The vault has a new key.")
        return .done
    }

    /// The slot whose passphrase changes; `nil` if the vault has no passphrase.
    ///
    /// If the recovery key unlocked the vault, and there are several passphrases, `--slot` is
    /// required.
    private static func slotToChange(
        _ wanted: Int?, of vault: UnlockedVault
    ) throws -> SlotSummary? {
        let slots = vault.slots.filter(\.isPassphrase)
        if let wanted {
            guard let slot = slots.first(where: { $0.number == wanted }) else {
                throw VaultError.noSuchSlot
            }
            return slot
        }
        if let opened = slots.first(where: { $0.number == vault.openedSlot }) { return opened }
        guard slots.count <= 1 else {
            throw UsageError.needsOneOf(slots.map { "--slot \($0.number)" })
        }
        return slots.first
    }
}

extension SlotSummary {
    var isPassphrase: Bool { if case .passphrase = method { true } else { false } }
}

/// `slot add tpm2` and `slot add fido2`.
enum SlotAddTokenCommand {
    static func addTPM(_ session: Session) throws {
        let address = try session.tpmAddress()
        let vault = try session.unlockToChangeSlots()
        let isPINless = session.arguments.has(.noPIN)
        if isPINless {
            session.printer.warn(
                "without a PIN, anyone who can run programs on this computer opens the vault; the slot "
                    + "only protects copies of the file")
        }
        let pin = isPINless ? nil : try session.newPIN()
        let secret = Randomness.secret(count: TokenRequest.secretCount)
        let request = TokenRequest.seal(
            secret, pin: pin, isBoundToPCR7: session.arguments.has(.pcr7), in: address)
        guard case .sealed(let object) = try session.carryOut(request, on: .tpm) else {
            throw CommandFailure.token(.badHelperResponse, .tpm)
        }
        let number = try session.change(vault) { changes throws(VaultError) in
            try changes.addTPM(object, sealing: secret, now: SystemClock.unixTime())
        }
        report(number, of: vault, session)
    }

    static func addAuthenticator(_ session: Session) throws {
        let vault = try session.unlockToChangeSlots()
        let salt = Randomness.bytes(count: FIDOCredential.saltCount)
        let isPINless = session.arguments.has(.noPIN)
        if isPINless {
            session.printer.warn(
                "without a PIN, anyone who has the authenticator and the vault opens it with a touch"
            )
        }
        let request = TokenRequest.makeCredential(
            device: session.arguments[.device], salt: salt, requiresPIN: !isPINless)
        guard
            case .made(let credential, let secret) = try session.carryOut(
                request, on: .authenticator)
        else { throw CommandFailure.token(.badHelperResponse, .authenticator) }
        let number = try session.change(vault) { changes throws(VaultError) in
            try changes.addAuthenticator(
                credential, secret: secret, now: SystemClock.unixTime())
        }
        report(number, of: vault, session)
    }

    private static func report(_ number: Int, of vault: UnlockedVault, _ session: Session) {
        session.printer.note("Added slot \(number).")
        if let advice = Messages.advice(about: vault.slots, session.program) {
            session.printer.note(advice)
        }
    }
}
