import CommandLineInterface
import Devices
import OneTimePassword
import SecretVault
import VaultService
import WatchwordSystem

// Entries are opened only here, after the confirmation that they require.
extension Session {
    /// Opens `entry`.
    func content(of entry: EntrySummary, in vault: UnlockedVault, for use: EntryUse)
        throws(CommandFailure) -> EntryContent
    {
        try opened(entry, in: vault, for: use, takingCounter: false)
    }

    /// Opens `entry`, which has codes.
    func credential(of entry: EntrySummary, in vault: UnlockedVault, for use: EntryUse)
        throws(CommandFailure) -> Credential
    {
        guard
            case .oneTimePassword(let credential) = try content(of: entry, in: vault, for: use)
        else { throw .noCodes(entry.name.visible, entry.kind) }
        return credential
    }

    /// Opens `entry`, which is counter-based, for its next code; the new counter is saved before
    /// the code is computed.
    func nextCounter(of entry: EntrySummary, in vault: UnlockedVault, for use: EntryUse)
        throws(CommandFailure) -> EntryContent
    {
        try opened(entry, in: vault, for: use, takingCounter: true)
    }

    /// Asks for confirmation for each per-use entry in `entries`: replacing a secret requires the
    /// same confirmation as using it.
    ///
    /// - Returns: The confirmed entries.
    func askToReplace(_ entries: [EntrySummary], in vault: OpenVault) throws(CommandFailure)
        -> Set<RecordID>
    {
        let asking = entries.filter(\.requiresCheckPerUse)
        for (index, entry) in asking.enumerated() {
            let use = EntryUse.replace(number: index + 1, of: asking.count)
            try confirm(entry, in: vault, for: use)
        }
        return Set(asking.map(\.id))
    }

    /// Asks for the confirmation that renaming or removing `entry` requires, if it requires one.
    ///
    /// Nothing protects a damaged entry, which can be removed without.
    func confirmations(
        for use: EntryUse, of entry: EntrySummary, in vault: OpenVault
    ) throws(CommandFailure) -> Confirmations {
        guard entry.requiresCheckPerUse else { return Confirmations() }
        do { try confirm(entry, in: vault, for: use) } catch .vault(_, .damaged) {
            return Confirmations()
        }
        return Confirmations([entry])
    }

    /// Asks for the confirmation that changing or replacing `entry` requires, for the next edit.
    func confirm(
        _ entry: EntrySummary, in vault: OpenVault, for use: EntryUse
    ) throws(CommandFailure) {
        switch vault {
        case .own(let vault):
            // An entry that has vanished cannot be opened after its check.
            do { _ = try content(of: entry, in: vault, for: use) } catch .vault(_, .vanished) {}
        case .held(let vault):
            let response = try agentResponse(for: entry, in: vault, for: use) { presence in
                .confirm(vault.place, entry.id, presence)
            }
            guard case .done = response else { throw .agent(.malformed) }
        }
    }

    private func opened(
        _ entry: EntrySummary, in vault: UnlockedVault, for use: EntryUse, takingCounter: Bool
    ) throws(CommandFailure) -> EntryContent {
        let asks = entry.accessControl.presence.isPerUse
        if asks, try checkChoice().check(of: entry) == .pam {
            var check = PAMCheck()
            let proof = try proved(&check, entry, in: vault, for: use) {
                .presence(.pam(entry.name, $0, entry.accessControl.presence))
            }
            return try spend(proof, on: entry, in: vault, takingCounter: takingCounter)
        }
        guard asks, use.isFurther || !vault.unlockingProvesPresence else {
            let proof: PresenceProof<Cryptographic>
            do {
                proof = try vault.proofOfUnlocking(for: entry.id)
            } catch {
                throw try failure(error, of: entry)
            }
            return try spend(proof, on: entry, in: vault, takingCounter: takingCounter)
        }
        var attempts = PromptAttempts()
        while true {
            do {
                let proof = try proofOfAsking(for: entry, in: vault, for: use)
                return try spend(proof, on: entry, in: vault, takingCounter: takingCounter)
            } catch .presence(let refusal)
                where promptsForOpener && attempts.allowAnother(after: refusal)
            {
                printer.complain(Messages.sentence(for: refusal))
            }
        }
    }

    /// Asks again for the passphrase or recovery key, unless the entry is locked.
    private func proofOfAsking(
        for entry: EntrySummary, in vault: UnlockedVault, for use: EntryUse
    ) throws(CommandFailure) -> PresenceProof<OpenerCheck.Grade> {
        let path = try vaultPath()
        let isGuess = vault.slots.contains { $0.number == vault.openedSlot && $0.isPassphrase }
        let waiting = try inVault { () throws(VaultError) in
            try vault.lockOut(of: entry.id, isGuess: isGuess)
        }
        guard waiting.seconds == 0 else {
            if promptsForOpener { discardAnswer(duringLockOutOf: waiting.seconds) }
            throw .presence(.entryLockedOut(entry.name, seconds: waiting.seconds))
        }
        let opener = try openerAgain(
            for: Messages.purpose(of: use, entry.name), of: entry.name, among: vault.slots,
            openedBy: vault.openedSlot)
        var check = OpenerCheck(opener, of: vault)
        return try proved(&check, entry, in: vault, for: use) {
            .vault(VisibleText.of(path), $0.reason)
        }
    }

    /// Unlocks the vault to change what opens it.
    ///
    /// After a TPM without a PIN, it asks for the passphrase or the recovery key.
    func unlockToChangeSlots() throws(CommandFailure) -> UnlockedVault {
        let vault = try unlock()
        guard !vault.unlockingProvesPresence else { return vault }
        let path = try vaultPath()
        return try attempting(path) { () throws(CommandFailure) in
            try lockOut(of: path)
        } unlock: { () throws(CommandFailure) in
            let opener = try opener(
                again: "To change how the vault is opened", slots: vault.slots)
            return try unlocked(path, with: opener)
        }
    }

    /// What opens the vault, from the person: the device that unlocked it, or else the passphrase or
    /// the recovery key.
    ///
    /// - Parameter number: The slot that unlocked the vault; `nil` if it is not known. Then a device
    ///   is used only if the vault has no passphrase.
    func openerAgain(
        for purpose: String, of name: EntryName, among slots: [SlotSummary],
        openedBy number: Int?
    ) throws(CommandFailure) -> VaultOpener {
        let devices = slots.filter { $0.token != nil && $0.provesPresence }
        do {
            if !isOpenedByRecoveryKey, passphraseFile == nil,
                number != nil || !slots.contains(where: \.isPassphrase),
                let device = devices.first(where: { number == nil || $0.number == number })
            {
                return try opener(of: device, again: purpose)
            }
            return try opener(again: purpose, slots: slots)
        } catch .input(let place, let error) {
            throw .presence(.nothingFurther(name, place, error))
        }
    }

    private func proved<Check: PresenceCheck>(
        _ check: inout Check, _ entry: EntrySummary, in vault: UnlockedVault, for use: EntryUse,
        _ reason: (Check.Failure) -> CommandFailure
    ) throws(CommandFailure) -> PresenceProof<Check.Grade> {
        do {
            return try vault.prove(
                &check, for: entry.id, words: Messages.purpose(of: use, entry.name))
        } catch {
            switch error {
            case .vault(let error): throw try failure(error, of: entry)
            case .refused(let cost):
                throw .presence(.refused(entry.name, cost, entry.accessControl.onFailure))
            case .check(let failure): throw reason(failure)
            }
        }
    }

    private func spend<Grade: PresenceGrade>(
        _ proof: consuming PresenceProof<Grade>, on entry: EntrySummary, in vault: UnlockedVault,
        takingCounter: Bool
    ) throws(CommandFailure) -> EntryContent {
        let path = try vaultPath()
        do {
            return takingCounter
                ? try vault.nextHOTP(entry.id, proof: proof)
                : try vault.open(entry.id, proof: proof)
        } catch {
            throw .vault(VisibleText.of(path), error)
        }
    }

    /// Converts a vault error about one entry.
    private func failure(_ error: VaultError, of entry: EntrySummary) throws(CommandFailure)
        -> CommandFailure
    {
        if case .lockedOut(let seconds) = error {
            return .presence(.entryLockedOut(entry.name, seconds: seconds))
        }
        return .vault(VisibleText.of(try vaultPath()), error)
    }
}

/// The purpose of opening an entry, shown in the prompt.
enum EntryUse: Hashable, Sendable {
    case show
    case loginStatus
    case verify
    case edit
    case remove
    case signIn
    /// Signing in to this server with a device key.
    case signInTo(String)
    /// Confirming a text for this server with a device key.
    case confirmText(String)
    /// Registering a new device key at this server.
    case enrolAt(String)
    /// One of several entries that require confirmation; the first is 1.
    case code(number: Int, of: Int)
    case watch(number: Int, of: Int)
    case export(number: Int, of: Int)
    case replace(number: Int, of: Int)

    /// Whether an earlier check may be reused, if the entry allows it.
    ///
    /// Showing or changing a secret always requires a check, and so does confirming a text, and
    /// `watch`, whose check lasts.
    var mayReuse: Bool {
        switch self {
        case .code, .verify, .signIn, .signInTo: true
        case .show, .loginStatus, .edit, .remove, .watch, .export, .replace, .confirmText, .enrolAt:
            false
        }
    }

    /// Whether the confirmation from unlocking was already used for another entry.
    var isFurther: Bool {
        switch self {
        case .show, .loginStatus, .verify, .edit, .remove, .signIn, .signInTo, .confirmText,
            .enrolAt:
            false
        case .code(let number, _), .watch(let number, _), .export(let number, _),
            .replace(let number, _):
            number > 1
        }
    }
}
