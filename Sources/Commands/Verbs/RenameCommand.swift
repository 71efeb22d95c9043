import Arguments
import CommandRunner
import SecretVault
import VaultAgent

/// `rename` and `remove`: change an entry's name, or delete the entry.
enum RenameCommand {
    static func rename(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        let name = EntryName(typed: session.arguments.operands[1])
        _ = try session.perform(.rename(entry.id, to: name), in: vault)
        session.printer.note("Renamed \(entry.name.visible) to \(name.visible).")
        return .done
    }

    static func remove(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        let name = entry.name.visible
        if !session.arguments.has(.yes) {
            try Question.confirm("Remove \(name)? Its key cannot be recovered.")
        }
        let purges = session.arguments.has(.purge)
        _ = try session.perform(.remove(entry.id, purge: purges), in: vault)
        session.printer.note("Removed \(name).")
        return .done
    }
}
