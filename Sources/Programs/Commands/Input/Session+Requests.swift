import CommandLineInterface
import Devices
import SecretVault
import VaultService
import WatchwordSystem

// Requests to the vault that a command has opened, and the checks that they require.
extension Session {
    /// Converts a refusal that concerns the whole vault to a `CommandFailure`.
    func expected(_ response: AgentResponse, by vault: any OpenVault) throws -> AgentResponse {
        switch response {
        case .notHeld: throw CommandFailure.agentLocked(nil)
        case .locked(let reason): throw CommandFailure.agentLocked(reason)
        case .moving: throw CommandFailure.moveUnfinished
        case .failed(.notFound) where vault.isKeptBySystem: throw CommandFailure.moveUnfinished
        case .fingersDiffer(let difference): throw CommandFailure.fingersDiffer(difference)
        case .failed(let error): throw CommandFailure.at(VisibleText.of(vault.path), error)
        default: return response
        }
    }

    /// Sends a request that uses `entry`, after the check that it requires.
    func response(
        for entry: EntrySummary, in vault: any OpenVault, for use: EntryUse,
        _ request: (AgentPresence) -> AgentRequest
    ) throws -> AgentResponse {
        // Check this before any prompt.
        if use.needsSecret { try requireHome(of: entry) }
        if vault.isHeldByAgent, use.mayReuse, entry.requiresCheckPerUse,
            entry.accessControl.reuse != .none
        {
            let person = questions(about: entry, in: vault, for: use)
            let response = try vault.send(request(.none), asking: person.answer)
            guard case .failed(.presenceNeeded) = response else {
                return try expected(response, for: entry, in: vault, questions: person)
            }
        }
        var attempts = PromptAttempts()
        var isProved = false
        while true {
            do {
                return try responseOnce(for: entry, in: vault, for: use, request)
            } catch CommandFailure.at(_, VaultError.presenceNeeded)
                where !entry.requiresCheckPerUse && !isProved
            {
                // A code for a future time requires this.
                try proveAgain(vault)
                isProved = true
            } catch CommandFailure.presence(let refusal) where attempts.allowAnother(after: refusal)
            {
                // A file is not read again, and PAM modules repeat their own prompts.
                guard promptsForOpener, try checkChoice().check(of: entry) == .passphrase else {
                    throw CommandFailure.presence(refusal)
                }
                // The secret that opened the vault for this command is tried only once.
                vault.opener = nil
                printer.complain(Messages.sentence(for: refusal))
            }
        }
    }

    private func responseOnce(
        for entry: EntrySummary, in vault: any OpenVault, for use: EntryUse,
        _ request: (AgentPresence) -> AgentRequest
    ) throws -> AgentResponse {
        let person = questions(about: entry, in: vault, for: use)
        let presence = try presence(for: entry, in: vault, for: use)
        var response = try vault.send(request(presence), asking: person.answer)
        if case .fingersDiffer(let difference) = response {
            printer.alarm(Messages.sentence(for: difference) + "; the passphrase is also required")
            try proveAgain(vault)
            response = try vault.send(request(presence), asking: person.answer)
        }
        return try expected(response, for: entry, in: vault, questions: person)
    }

    private func questions(
        about entry: EntrySummary, in vault: any OpenVault, for use: EntryUse
    ) -> RelayedQuestions {
        RelayedQuestions(
            purpose: Messages.purpose(of: use, entry.name), until: vault.endOfQuestion,
            session: self)
    }

    /// Converts a refusal to a `CommandFailure`.
    private func expected(
        _ response: AgentResponse, for entry: EntrySummary, in vault: any OpenVault,
        questions: RelayedQuestions
    ) throws -> AgentResponse {
        // The reason for the missing PIN is more precise than the response.
        if let failure = questions.failureOfPIN { throw failure }
        switch response {
        case .failed(.lockedOut(let seconds)):
            throw CommandFailure.presence(.entryLockedOut(entry.name, seconds: seconds))
        case .refused(let cost):
            throw CommandFailure.presence(.refused(entry.name, cost, entry.accessControl.onFailure))
        case .noVerdict(let failure):
            throw CommandFailure.presence(
                .pam(entry.name, questions.explained(failure), entry.accessControl.presence))
        case .noCode: throw CommandFailure.noCodes(entry.name.visible, entry.kind)
        case .failed(let error) where error.isOfDevice: throw CommandFailure.closed(entry, error)
        default: return try expected(response, by: vault)
        }
    }

    /// The check that `entry` requires; prompts for a passphrase unless the entry is locked.
    private func presence(
        for entry: EntrySummary, in vault: any OpenVault, for use: EntryUse
    ) throws -> AgentPresence {
        guard entry.accessControl.presence.isPerUse else { return .none }
        guard entry.requiresCheckPerUse else {
            throw CommandFailure.at(VisibleText.of(vault.path), VaultError.wiped)
        }
        let purpose = Messages.purpose(of: use, entry.name)
        guard try checkChoice().check(of: entry) == .passphrase else { return .modules(purpose) }
        if !use.isFurther, vault.unlockingProvesPresence { return .none }
        let request = AgentRequest.lockOut(vault.place, entry.id)
        let response = try expected(vault.send(request), by: vault)
        if case .lockOut(let lockOut) = response, lockOut.seconds > 0 {
            if promptsForOpener { discardAnswer(duringLockOutOf: lockOut.seconds) }
            throw CommandFailure.presence(.entryLockedOut(entry.name, seconds: lockOut.seconds))
        }
        // The secret that opened the vault for this command also passes the check of its first use.
        if !use.isFurther, let opener = vault.opener, opener.provesPresence {
            return .opener(opener)
        }
        return .opener(
            try openerAgain(
                for: purpose, of: entry.name, among: vault.slots, openedBy: vault.openedSlot))
    }

    /// The means of opening the vault, provided by the person: the device that unlocked it or,
    /// failing that, the passphrase or the recovery key.
    ///
    /// - Parameter number: The slot that unlocked the vault; if `nil` (unknown), a device is used
    ///   only if the vault has no passphrase.
    func openerAgain(
        for purpose: String, of name: EntryName, among slots: [SlotSummary],
        openedBy number: Int?
    ) throws -> VaultOpener {
        let devices = slots.filter { $0.token != nil && $0.provesPresence }
        do {
            if !isOpenedByRecoveryKey, passphraseFile == nil,
                number != nil || !slots.contains(where: \.isPassphrase),
                let device = devices.first(where: { number == nil || $0.number == number })
            {
                return try opener(of: device, again: purpose)
            }
            return try opener(again: purpose, slots: slots)
        } catch CommandFailure.at(let place, let error as FileError) {
            throw CommandFailure.presence(.nothingFurther(name, place, error))
        }
    }

    /// Proves again that the person can open the vault that the agent holds; prompts unless the
    /// proof was just given.
    ///
    /// - Returns: the passphrase, key or device secret; `nil` if this process has opened the vault.
    @discardableResult func proveAgain(_ vault: any OpenVault) throws -> VaultOpener? {
        guard vault.isHeldByAgent else { return nil }
        if let known = vault.opener {
            try prove(known, to: vault)
            return known
        }
        return try withOpener(
            of: vault.path, among: vault.slots, lockOut: { try lockOut(of: vault) }
        ) { opener in
            try prove(opener, to: vault)
            return opener
        }
    }

    private func prove(_ opener: VaultOpener, to vault: any OpenVault) throws {
        let began = SystemClock.unixTime()
        let request = AgentRequest.prove(vault.place, opener, ceiling: try unlockCeiling())
        switch try vault.send(request) {
        case .done: return
        case .failed(let error):
            throw refusal(error, at: vault.path) {
                try status(of: vault, since: began)
            }
        case .notHeld: throw CommandFailure.agentLocked(nil)
        case .locked(let reason): throw CommandFailure.agentLocked(reason)
        default: throw AgentFailure.malformed
        }
    }
}

// Changes to the vault.
extension Session {
    /// Performs an edit in one save, and prints the reports about the save.
    ///
    /// The vault records the presence checks for this edit (``confirm(_:in:for:)``).
    ///
    /// - Parameter entry: the only entry that the edit changes.
    func perform(
        _ edit: VaultEdit, in vault: any OpenVault, about entry: EntrySummary? = nil
    ) throws -> EditOutcome {
        let response = try vault.send(.edit(vault.place, edit, .none))
        if let entry, case .failed(let error) = response, error.isOfDevice {
            throw CommandFailure.closed(entry, error)
        }
        let (outcome, reports) = try self.outcome(of: edit, in: response, by: vault)
        printReports(reports, of: vault.entries)
        if case .refused(let refusal) = outcome { throw CommandFailure.edit(refusal) }
        return outcome
    }

    /// The outcome of an edit that is not saved, as if every presence check had succeeded.
    func rehearse(_ edit: VaultEdit, in vault: any OpenVault) throws -> EditOutcome {
        let response = try vault.send(.rehearse(vault.place, edit))
        return try outcome(of: edit, in: response, by: vault).0
    }

    private func outcome(
        of edit: VaultEdit, in response: AgentResponse, by vault: any OpenVault
    ) throws -> (EditOutcome, [VaultReport]) {
        guard case .edited(let outcome, let reports) = try expected(response, by: vault),
            edit.accepts(outcome)
        else { throw AgentFailure.malformed }
        return (outcome, reports)
    }

    /// Changes and saves a vault that this process has opened, and prints the reports about the
    /// save.
    @discardableResult func change<Result>(
        _ vault: UnlockedVault, _ body: (inout VaultChanges) throws(VaultError) -> Result
    ) throws -> Result {
        let result = try vault.update(body)
        printReports(vault.saveReports, of: vault.entries)
        return result
    }
}

extension EditOutcome {
    /// Ends the program: each kind of edit has its own kind of outcome.
    func isUnexpected() -> Never { preconditionFailure("the outcome belongs to the edit") }
}
