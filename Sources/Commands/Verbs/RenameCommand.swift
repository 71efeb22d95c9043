import Arguments
import CommandRunner
import SecretVault

/// `rename` and `remove`: change an entry's name, or delete the entry.
enum RenameCommand {
    static func rename(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.unlock()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        let name = EntryName(typed: session.arguments.operands[1])
        // Check the name under the lock, so that no other program can take it.
        let isTaken = try session.change(vault) { changes throws(VaultError) in
            if changes.entries.contains(where: { $0.name == name && $0.id != entry.id }) {
                return true
            }
            try changes.rename(entry.id, issuer: name.issuer, account: name.account)
            return false
        }
        if isTaken { throw .nameTaken(name.visible) }
        session.printer.note("Renamed \(entry.name.visible) to \(name.visible).")
        return .done
    }

    static func remove(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.unlock()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        let name = entry.name.visible
        if !session.arguments.has(.yes) {
            try Question.confirm("Remove \(name)? Its key cannot be recovered.")
        }
        let purges = session.arguments.has(.purge)
        try session.change(vault) { changes throws(VaultError) in
            try changes.remove(entry.id, purge: purges)
        }
        session.printer.note("Removed \(name).")
        return .done
    }
}
