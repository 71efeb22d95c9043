import CommandLineInterface
import SecretVault
import VaultService
import WatchwordSystem

// Changes to the vault.
extension Session {
    /// Performs an edit in one save, here or in the agent.
    ///
    /// - Parameter confirmations: the checks that were made here; the agent knows those that it made.
    func perform(
        _ edit: VaultEdit, in vault: OpenVault,
        confirmedBy confirmations: Confirmations = Confirmations()
    ) throws(CommandFailure) -> EditOutcome {
        let outcome: EditOutcome
        switch vault {
        case .own(let vault): outcome = try performed(edit, in: vault, confirmations)
        case .held(let held):
            let (edited, reports) = try self.edited(edit, by: held)
            printReports(reports, of: held.entries)
            outcome = edited
        }
        if case .refused(let refusal) = outcome { throw CommandFailure(refusal) }
        return outcome
    }

    /// The outcome of an edit that is not saved, as if every presence check had succeeded.
    func rehearse(_ edit: VaultEdit, in vault: OpenVault) throws(CommandFailure) -> EditOutcome {
        switch vault {
        case .own(let vault):
            try inVault { () throws(VaultError) in
                try vault.rehearse { changes throws(VaultError) in
                    try edit.apply(
                        to: &changes, confirmedBy: .assumed, now: SystemClock.unixTime())
                }
            }
        case .held(let vault): try rehearsed(edit, by: vault)
        }
    }

    private func performed(
        _ edit: VaultEdit, in vault: UnlockedVault, _ confirmations: Confirmations
    ) throws(CommandFailure) -> EditOutcome {
        try change(vault) { changes throws(VaultError) in
            try edit.apply(
                to: &changes, confirmedBy: confirmations, now: SystemClock.unixTime())
        }
    }
}

extension EditOutcome {
    /// Ends the program: an edit has an outcome of its own kind.
    func isUnexpected() -> Never { preconditionFailure("the outcome belongs to the edit") }
}

extension CommandFailure {
    /// Converts the refusal of an edit.
    init(_ refusal: EditRefusal) {
        switch refusal {
        case .emptyName: self = .usage(.emptyName)
        case .nameTaken(let name): self = .nameTaken(name.visible)
        case .noSuchTag(let name, let tag): self = .noSuchTag(name.visible, VisibleText.of(tag))
        case .period:
            self = .usage(.badValue(Option.period.name, expected: "a whole number of seconds"))
        case .credential(let error): self = .credential(error)
        }
    }
}
