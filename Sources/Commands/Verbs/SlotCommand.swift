import Arguments
import CommandRunner
import Cryptography
import JSONText
import POSIX
import SecretVault

/// `slot list`, `slot add`, `slot remove`, `passphrase` and `rekey`.
enum SlotCommand {
    static func list(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.unlock()
        for slot in vault.slots {
            let created = Timestamp(unixTime: slot.created).text
            if session.wantsJSON {
                var members: [(String, JSONValue)] = [
                    ("created_at", .text(created)), ("method", .text(method(slot))),
                    ("number", .number(Int64(slot.number))),
                    ("used", .flag(slot.number == vault.openedSlot)),
                ]
                if case .passphrase(let logN) = slot.method {
                    members.append(("scrypt_log_n", .number(Int64(logN))))
                }
                members.sort { $0.0 < $1.0 }
                try session.printer.line(.object(members))
            } else {
                var line = "\(slot.number)  \(method(slot))"
                if case .passphrase(let logN) = slot.method { line += "  scrypt 2^\(logN)" }
                try session.printer.line("\(line)  \(created)")
            }
        }
        return .done
    }

    static func method(_ slot: SlotSummary) -> String {
        switch slot.method {
        case .passphrase: "passphrase"
        case .recoveryKey: "recovery-key"
        case .other(let name): VisibleText.of(name)
        }
    }

    static func add(_ session: Session) throws(CommandFailure) -> ExitCode {
        let cost = try session.cost()
        let now = SystemClock.unixTime()
        switch session.arguments.operands[0] {
        case "passphrase":
            let vault = try session.unlock()
            let passphrase = try session.newPassphrase(from: .newPassphraseFile)
            let number = try session.change(vault) { changes throws(VaultError) in
                try changes.addPassphrase(passphrase, cost: cost, now: now)
            }
            session.printer.note("Added slot \(number).")
            session.warnAboutCost(vault.unlockCost)
        case "recovery-key":
            for option in [Option.newPassphraseFile, .scryptLogN]
            where session.arguments.has(option) {
                throw .usage(.inapplicableOption(option.name, verb: "slot add"))
            }
            let vault = try session.unlock()
            try InitCommand.addRecoveryKey(session) { key throws(CommandFailure) in
                try session.change(vault) { changes throws(VaultError) in
                    try changes.addRecoveryKey(key, now: now)
                }
            }
        default:
            throw .usage(.needsOneOf(["slot add passphrase", "slot add recovery-key"]))
        }
        return .done
    }

    static func remove(_ session: Session) throws(CommandFailure) -> ExitCode {
        guard let number = Int(session.arguments.operands[0]) else {
            throw .usage(
                .badOperand("NUMBER", expected: "a slot number from watchword slot list"))
        }
        let vault = try session.unlock()
        guard let slot = vault.slots.first(where: { $0.number == number }) else {
            throw .vault(VisibleText.of(try session.vaultPath()), .noSuchSlot)
        }
        // Refuse an impossible removal before the prompt.
        try session.inVault { () throws(VaultError) in
            try vault.rehearse { changes throws(VaultError) in
                try changes.removeSlot(slot, keepsKey: true)
            }
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
    static func changePassphrase(_ session: Session) throws(CommandFailure) -> ExitCode {
        let cost = try session.cost()
        let wanted = try session.usage { () throws(UsageError) in
            try session.arguments.integer(.slot, in: 1...Int(Int32.max))
        }
        let vault = try session.unlock()
        let slot = try slotToChange(wanted, of: vault, session)
        let passphrase = try session.newPassphrase(from: .newPassphraseFile)
        let now = SystemClock.unixTime()
        let keepsKey = session.arguments.has(.keepKey)
        try session.change(vault) { changes throws(VaultError) in
            if let slot {
                try changes.changePassphrase(
                    of: slot, to: passphrase, cost: cost, now: now, keepsKey: keepsKey)
            } else {
                try changes.addPassphrase(passphrase, cost: cost, now: now)
            }
        }
        session.printer.note("Changed the passphrase.")
        session.warnAboutCost(vault.unlockCost)
        return .done
    }

    /// `rekey`: gives the vault a new key.
    static func rekey(_ session: Session) throws(CommandFailure) -> ExitCode {
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
        _ wanted: Int?, of vault: UnlockedVault, _ session: Session
    ) throws(CommandFailure) -> SlotSummary? {
        let slots = vault.slots.filter {
            if case .passphrase = $0.method { true } else { false }
        }
        if let wanted {
            guard let slot = slots.first(where: { $0.number == wanted }) else {
                throw .vault(VisibleText.of(try session.vaultPath()), .noSuchSlot)
            }
            return slot
        }
        if let opened = slots.first(where: { $0.number == vault.openedSlot }) { return opened }
        guard slots.count <= 1 else {
            throw .usage(.needsOneOf(slots.map { "--slot \($0.number)" }))
        }
        return slots.first
    }
}
