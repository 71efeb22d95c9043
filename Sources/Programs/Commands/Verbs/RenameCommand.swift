import CommandLineInterface
import SecretVault
import VaultService

/// `rename` and `remove`: change an entry's name, or delete the entry.
enum RenameCommand {
    static func rename(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(
            toChange: session.arguments.operands[0], asks: session.canAskToChoose)
        let name = EntryName(typed: session.arguments.operands[1])
        let confirmations = try session.confirmations(for: .edit, of: entry, in: vault)
        _ = try session.perform(
            .rename(entry.id, to: name), in: vault, confirmedBy: confirmations)
        session.printer.note("Renamed \(entry.name.visible) to \(name.visible).")
        return .done
    }

    static func remove(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(
            toChange: session.arguments.operands[0], asks: !session.arguments.has(.yes))
        let name = entry.name.visible
        let purges = session.arguments.has(.purge)
        if !session.arguments.has(.yes) {
            var isFinal = purges
            // The system agent cannot undo.
            if case .held(let held) = vault, held.client.isSystem { isFinal = true }
            let outlook =
                isFinal ? "Its key cannot be recovered." : "Only watchword undo can restore it."
            try Question.confirm("Remove \(name)? \(outlook)")
        }
        let confirmations = try session.confirmations(for: .remove, of: entry, in: vault)
        _ = try session.perform(
            .remove(entry.id, purge: purges), in: vault, confirmedBy: confirmations)
        session.printer.note("Removed \(name).")
        return .done
    }
}
