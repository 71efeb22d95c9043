import CommandLineInterface
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordSystem

/// `pick`: copies or prints the code of an entry that is chosen from a list.
enum PickCommand {
    /// Prints the code instead of copying it.
    private static let printing = TerminalKey.control("p")

    static func run(_ session: Session) throws -> ExitCode {
        let idle = try session.idleLimit()
        let order = try session.givenOrder() ?? .name
        let vault = try session.openVault()
        let entries = vault.entries.filter {
            [.totp, .hotp].contains($0.kind) && $0.tombstone == nil
        }.sorted(by: order, uses: vault.lastUses)
        guard !entries.isEmpty else { throw CommandFailure.nothingToPick }
        let filter = session.arguments.operands.first ?? ""
        let list = LiveList(entries, filter: filter, alwaysFilters: true)
        switch try choose(from: list, all: vault.entries, idle: idle) {
        case .left: return .no
        case .idle:
            if let idle { session.printer.note(Messages.ended(after: idle)) }
            return .no
        case .chosen(let index, let key):
            try deliver(entries[index], of: vault, prints: key == printing, session)
            return .done
        }
    }

    private static func choose(from list: LiveList, all: [EntrySummary], idle: Duration?)
        throws -> LiveView.End
    {
        var view = LiveView(list: list, idle: idle, help: help, isLive: false)
        var lines: [String] = []
        var width = 0
        return try view.run { frame, index in
            let columns = LiveFrame.width(columns: frame.columns)
            if columns != width {
                lines = EntryTable(list.entries, of: all, columns: columns).lines
                width = columns
            }
            return lines[index].prefix(columns: columns)
        } respond: { key, list in
            guard key == .enter || key == printing, let index = list.selection else {
                return .continue
            }
            return .end(.chosen(index, key))
        }
    }

    private static func help(_ list: LiveList) -> String {
        "Enter copies, Ctrl-P prints, Escape ends (\(list.shown.count) of \(list.entries.count))"
    }

    private static func deliver(
        _ entry: EntrySummary, of vault: any OpenVault, prints: Bool, _ session: Session
    ) throws {
        // A counter-based code that cannot be copied must not be used up.
        let copy = prints ? nil : try session.codeCopy()
        if entry.kind == .totp { session.warnAboutClock() }
        let code = try session.entryCode(of: entry, in: vault, for: .code(number: 1, of: 1))
        if let copy {
            try session.deliver(code, by: copy)
        } else {
            try session.print(code.record, orLine: code.text)
        }
        try session.recordUse(of: entry, in: vault)
    }
}

extension Session {
    /// The default time limit for a list without a key press.
    static let idleLimit = Duration.seconds(15 * 60)

    /// The time limit for a list without a key press; `nil` for no limit.
    func idleLimit() throws -> Duration? {
        let limit = try timeLimit(.idle, standard: Session.idleLimit)
        return limit == .zero ? nil : limit
    }
}
