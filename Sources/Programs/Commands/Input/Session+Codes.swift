import CommandLineInterface
import Devices
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

// Codes of entries, after the confirmation that each requires. The agent never sends a key, so
// either this process or the agent performs whatever requires one.
extension Session {
    /// The code of a time-based entry, `offset` steps after the time that `--at` names, or after
    /// now, and that time.
    func code(
        of entry: EntrySummary, in vault: OpenVault, offset: UInt64, for use: EntryUse
    ) throws(CommandFailure) -> (text: String, step: TimeStep, moment: Int64) {
        guard let step = entry.timeStep else { throw .code(.otherMovingFactor) }
        switch vault {
        case .own(let vault):
            let credential = try credential(of: entry, in: vault, for: use)
            // Now, because the confirmation may have taken a while.
            let moment = try moment()
            let first = try first(of: step, at: moment)
            return (credential.generator().code(at: first &+ offset).text, step, moment)
        case .held(let vault):
            if let found = vault.code, found.offset == offset {
                return (found.text, step, found.moment)
            }
            let asked = try moment()
            let first = try first(of: step, at: asked)
            let time = CodeTime.moment(asked, offset: offset, isRefresh: false)
            let code = try issuedCode(of: entry, at: time, by: vault, for: use)
            let now = try moment()
            guard try self.first(of: step, at: now) != first else {
                return (code.text, step, asked)
            }
            // The code changed during the confirmation, which also counts for the next code.
            let later = CodeTime.moment(now, offset: offset, isRefresh: true)
            let request = AgentRequest.code(vault.place, entry.id, later, .none)
            guard case .code(let next) = try exchange(request, with: vault.client) else {
                throw .agentLocked(nil)
            }
            return (next.text, step, now)
        }
    }

    private func first(of step: TimeStep, at moment: Int64) throws(CommandFailure) -> UInt64 {
        do { return try step.step(at: moment) } catch { throw .code(.beforeStart) }
    }

    /// The next code of a counter-based entry, whose counter is saved first.
    func nextCode(
        of entry: EntrySummary, in vault: OpenVault, for use: EntryUse
    ) throws(CommandFailure) -> (text: String, counter: UInt64) {
        switch vault {
        case .own(let vault):
            let content = try nextCounter(of: entry, in: vault, for: use)
            guard case .oneTimePassword(let credential) = content,
                case .counter(let counter) = credential.movingFactor
            else { throw .code(.otherMovingFactor) }
            return (credential.generator().code(at: counter).text, counter)
        case .held(let vault):
            let code = try issuedCode(of: entry, at: .counter, by: vault, for: use)
            guard let counter = code.counter else { throw .agent(.malformed) }
            return (code.text, counter)
        }
    }

    private func issuedCode(
        of entry: EntrySummary, at time: CodeTime, by vault: AgentVault, for use: EntryUse
    ) throws(CommandFailure) -> IssuedCode {
        let response = try agentResponse(for: entry, in: vault, for: use) { presence in
            .code(vault.place, entry.id, time, presence)
        }
        guard case .code(let code) = response else { throw .agent(.malformed) }
        return code
    }

    /// Compares a code with those in a window.
    func match(
        _ comparison: CodeComparison, of entry: EntrySummary, by vault: AgentVault
    ) throws(CommandFailure) -> Int? {
        let response = try agentResponse(for: entry, in: vault, for: .verify) { presence in
            .verify(vault.place, entry.id, comparison, presence)
        }
        guard case .match(let offset) = response else { throw .agent(.malformed) }
        return offset
    }

    /// Performs an edit, after the confirmation that it requires.
    ///
    /// - Returns: the outcome, and what to report about the save.
    func edited(
        _ edit: VaultEdit, by vault: AgentVault
    ) throws(CommandFailure) -> (EditOutcome, [VaultReport]) {
        try expectRoom(for: edit, in: vault)
        let response = try exchange(.edit(vault.place, edit, .none), with: vault.client)
        return try outcome(of: edit, in: response, by: vault)
    }

    /// The outcome of an edit that is not saved, as if every presence check had succeeded.
    func rehearsed(_ edit: VaultEdit, by vault: AgentVault) throws(CommandFailure) -> EditOutcome {
        try expectRoom(for: edit, in: vault)
        let response = try exchange(.rehearse(vault.place, edit), with: vault.client)
        return try outcome(of: edit, in: response, by: vault).0
    }

    /// The agent refuses to read an edit that adds more entries than a vault can have.
    private func expectRoom(
        for edit: VaultEdit, in vault: AgentVault
    ) throws(CommandFailure) {
        guard case .importing(let edit) = edit, edit.items.count > TransferLimits.entries else {
            return
        }
        throw .vault(VisibleText.of(vault.place.path), .overLimit(.entries))
    }

    private func outcome(
        of edit: VaultEdit, in response: AgentResponse, by vault: AgentVault
    ) throws(CommandFailure) -> (EditOutcome, [VaultReport]) {
        guard case .edited(let outcome, let reports) = try heldResponse(response, by: vault),
            edit.accepts(outcome)
        else { throw .agent(.malformed) }
        return (outcome, reports)
    }

    /// Sends a request that uses `entry`, after the confirmation that it requires.
    ///
    /// With the agent, having unlocked the vault never counts as the confirmation.
    ///
    /// - Parameter given: what has just been asked for and counts for this entry, too.
    func agentResponse(
        for entry: EntrySummary, in vault: AgentVault, for use: EntryUse,
        given: VaultOpener? = nil, _ request: (AgentPresence) -> AgentRequest
    ) throws(CommandFailure) -> AgentResponse {
        if use.mayReuse, entry.requiresCheckPerUse, entry.accessControl.reuse != .none {
            let person = questions(about: entry, in: vault, for: use)
            let response = try send(request(.none), to: vault, asking: person)
            guard case .failed(.presenceNeeded) = response else {
                return try expected(response, for: entry, in: vault, questions: person)
            }
        }
        var attempts = PromptAttempts()
        var given = given
        var isProved = false
        while true {
            defer { given = nil }
            do {
                return try agentResponseOnce(
                    for: entry, in: vault, for: use, given: given, request)
            } catch .vault(_, .presenceNeeded) where !entry.requiresCheckPerUse && !isProved {
                // For codes of the future.
                try proveAgain(vault)
                isProved = true
            } catch .presence(let refusal) where attempts.allowAnother(after: refusal) {
                // The system's modules repeat their own prompts.
                guard try checkChoice().check(of: entry) == .passphrase else {
                    throw .presence(refusal)
                }
                printer.complain(Messages.sentence(for: refusal))
            }
        }
    }

    private func agentResponseOnce(
        for entry: EntrySummary, in vault: AgentVault, for use: EntryUse, given: VaultOpener?,
        _ request: (AgentPresence) -> AgentRequest
    ) throws(CommandFailure) -> AgentResponse {
        let person = questions(about: entry, in: vault, for: use)
        let presence = try presence(for: entry, in: vault, for: use, given: given)
        let response = try send(request(presence), to: vault, asking: person)
        return try expected(response, for: entry, in: vault, questions: person)
    }

    private func questions(
        about entry: EntrySummary, in vault: AgentVault, for use: EntryUse
    ) -> RelayedQuestions {
        RelayedQuestions(
            purpose: Messages.purpose(of: use, entry.name), from: vault.client, session: self)
    }

    func send(
        _ request: AgentRequest, to vault: AgentVault, asking person: RelayedQuestions
    ) throws(CommandFailure) -> AgentResponse {
        do { return try vault.client.send(request, asking: person.answer) } catch {
            throw .agent(error)
        }
    }

    /// Converts a refusal to a `CommandFailure`.
    private func expected(
        _ response: AgentResponse, for entry: EntrySummary, in vault: AgentVault,
        questions: RelayedQuestions
    ) throws(CommandFailure) -> AgentResponse {
        // Why there was no PIN says more than that there was none.
        if let failure = questions.failureOfPIN { throw failure }
        switch response {
        case .failed(.lockedOut(let seconds)):
            throw .presence(.entryLockedOut(entry.name, seconds: seconds))
        case .refused(let cost):
            throw .presence(.refused(entry.name, cost, entry.accessControl.onFailure))
        case .noVerdict(let failure):
            let reason = questions.failure.map {
                PAMCheckFailure(reason: $0, mayConcealAttempt: failure.mayConcealAttempt)
            }
            throw .presence(
                .pam(entry.name, reason ?? failure, entry.accessControl.presence))
        case .noCode: throw .noCodes(entry.name.visible, entry.kind)
        default: return try heldResponse(response, by: vault)
        }
    }

    /// The confirmation that `entry` requires; prompts for a passphrase unless the entry is locked.
    private func presence(
        for entry: EntrySummary, in vault: AgentVault, for use: EntryUse, given: VaultOpener?
    ) throws(CommandFailure) -> AgentPresence {
        guard entry.accessControl.presence.isPerUse else { return .none }
        guard entry.requiresCheckPerUse else {
            throw .vault(VisibleText.of(vault.place.path), .wiped)
        }
        let purpose = Messages.purpose(of: use, entry.name)
        guard try checkChoice().check(of: entry) == .passphrase else { return .modules(purpose) }
        let request = AgentRequest.lockOut(vault.place, entry.id)
        if case .lockOut(let lockOut) = try exchange(request, with: vault.client),
            lockOut.seconds > 0
        {
            if promptsForOpener { discardAnswer(duringLockOutOf: lockOut.seconds) }
            throw .presence(.entryLockedOut(entry.name, seconds: lockOut.seconds))
        }
        // What opened the vault for this command also confirms its first use, as without an agent.
        let given = given ?? (use.isFurther ? nil : vault.opener)
        if let given, given.provesPresence { return .opener(given) }
        return .opener(
            try openerAgain(for: purpose, of: entry.name, among: vault.slots, openedBy: nil))
    }
}
