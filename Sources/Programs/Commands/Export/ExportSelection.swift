import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService

/// The entries that `export` writes, and those that it leaves out whatever the format.
struct ExportSelection {
    /// The entries to open, in the vault's order.
    private(set) var chosen: [EntrySummary] = []
    /// The entries that `--skip-per-use` skips.
    private(set) var skipped: [EntrySummary] = []
    /// The secrets with which devices sign in, which are never exported.
    private(set) var enrolled: [EntrySummary] = []
    private(set) var wiped: [EntrySummary] = []
    /// The entries whose secrets may still be in the previous generation.
    private(set) var vanished: [EntrySummary] = []

    init(of entries: [EntrySummary], _ session: Session) throws(CommandFailure) {
        let skipsPerUse = session.arguments.has(.skipPerUse)
        for entry in try ExportSelection.wanted(entries, session) {
            if entry.hasVanished {
                vanished.append(entry)
            } else if entry.tombstone != nil {
                wiped.append(entry)
            } else if entry.kind == .enrolled {
                enrolled.append(entry)
            } else if skipsPerUse, entry.requiresCheckPerUse {
                skipped.append(entry)
            } else {
                chosen.append(entry)
            }
        }
    }

    /// The entries that `--only` names by a tag, or else by a part of their names; all without it.
    private static func wanted(
        _ entries: [EntrySummary], _ session: Session
    ) throws(CommandFailure) -> [EntrySummary] {
        let words = session.arguments.values(of: .only)
        guard !words.isEmpty else { return entries }
        var wanted: Set<RecordID> = []
        for word in words {
            guard !EntryName.isBlank(word) else { throw .usage(.emptyName) }
            let tagged = entries.tagged([word])
            let found = tagged.isEmpty ? entries.filter(EntrySearch(word).matchesName) : tagged
            guard !found.isEmpty else { throw .noSuchEntry(VisibleText.of(word)) }
            wanted.formUnion(found.map(\.id))
        }
        return entries.filter { wanted.contains($0.id) }
    }

    /// Reports the entries that are left out whatever the format.
    func report(_ session: Session) {
        if !wiped.isEmpty {
            session.printer.note("Skipped \(Messages.entries(wiped.count, "wiped")).")
        }
        // An incomplete backup is reported even with --quiet.
        for entry in vanished {
            session.printer.alarm(
                "\(entry.name.visible) was skipped: it has lost its secret; restore it as watchword list "
                    + "says, and export again")
        }
        for entry in enrolled {
            session.printer.alarm(
                "\(entry.name.visible) was skipped: to the server, a copy of an enrolled secret looks "
                    + "like theft; enrol the other device instead")
        }
        for entry in skipped {
            session.printer.alarm(
                "\(entry.name.visible) was skipped: it requires confirmation at each use")
        }
    }
}
