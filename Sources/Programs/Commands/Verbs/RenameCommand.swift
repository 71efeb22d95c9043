import CommandLineInterface
import SecretVault
import VaultService

/// `rename` and `remove`: change an entry's name, or delete the entry.
enum RenameCommand {
    static func rename(_ session: Session) throws -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(
            toChange: session.arguments.operands[0], asks: session.canAskToChoose)
        let name = EntryName(typed: session.arguments.operands[1])
        try session.confirmIfRequired(entry, in: vault, for: .edit)
        _ = try session.perform(.rename(entry.id, to: name), in: vault)
        session.printer.note("Renamed \(entry.name.visible) to \(name.visible).")
        return .done
    }

    static func remove(_ session: Session) throws -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(
            toChange: session.arguments.operands[0], asks: !session.arguments.has(.yes))
        let name = entry.name.visible
        let purges = session.arguments.has(.purge)
        if !session.arguments.has(.yes) {
            // The system agent cannot undo.
            let isFinal = purges || vault.isKeptBySystem
            let outlook =
                isFinal ? "Its key cannot be recovered." : "Only watchword undo can restore it."
            try Question.confirm("Remove \(name)? \(outlook)")
        }
        try session.confirmIfRequired(entry, in: vault, for: .remove)
        _ = try session.perform(.remove(entry.id, purge: purges), in: vault)
        session.printer.note("Removed \(name).")
        return .done
    }
}
