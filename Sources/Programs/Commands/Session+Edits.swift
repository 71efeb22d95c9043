import CommandLineInterface
import SecretVault
import VaultService
import WatchwordSystem

// Changes to the vault.
extension Session {
    /// Performs an edit in one save, and prints what is reported about the save.
    ///
    /// The vault knows which presence checks were made for it (``confirm(_:in:for:)``).
    func perform(_ edit: VaultEdit, in vault: any OpenVault) throws -> EditOutcome {
        let response = try vault.send(.edit(vault.place, edit, .none))
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

    /// Changes and saves a vault that this process has opened, and prints what is reported about the
    /// save.
    @discardableResult func change<Result>(
        _ vault: UnlockedVault, _ body: (inout VaultChanges) throws(VaultError) -> Result
    ) throws -> Result {
        let result = try vault.update(body)
        printSaveReports(of: vault)
        return result
    }

    /// Prints what is reported about the saves.
    func printSaveReports(of vault: UnlockedVault) {
        printReports(vault.saveReports, of: vault.entries)
    }
}

extension EditOutcome {
    /// Ends the program: an edit has an outcome of its own kind.
    func isUnexpected() -> Never { preconditionFailure("the outcome belongs to the edit") }
}
