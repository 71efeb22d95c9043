import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordSystem

/// `watch`: shows codes as they change.
enum WatchCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let idle = try session.idleLimit()
        let vault = try session.openVault()
        let rows = try rows(of: vault, session)
        guard !rows.isEmpty else { throw CommandFailure.nothingToWatch }
        session.warnAboutClock()
        if session.wantsJSON || !session.printer.outputIsTerminal {
            try printOnce(rows, session)
        } else {
            try showLive(rows, idle: idle, session)
        }
        return .done
    }

    private static func rows(of vault: any OpenVault, _ session: Session) throws -> [LiveRow] {
        var entries: [EntrySummary] = []
        let order = try session.givenOrder()
        if session.arguments.operands.isEmpty {
            let all = vault.entries.filter { $0.kind == .totp && $0.tombstone == nil }
            entries = all.filter { $0.accessControl.presence == .perUnlock }
                .sorted(by: order ?? .name, uses: vault.lastUses)
            // Per-use entries are shown only if specified, because each of them prompts.
            guard all.isEmpty || !entries.isEmpty else { throw CommandFailure.eachRequiresCheck }
            if all.count > entries.count {
                session.printer.note(
                    "Skipped \(all.count - entries.count) "
                        + (all.count - entries.count == 1
                            ? "entry that requires" : "entries that require")
                        + " a check at each use; specify them to watch them.")
            }
        }
        for name in session.arguments.operands {
            let entry = try vault.entries.one(named: name)
            guard entry.kind == .totp else {
                throw CommandFailure.noCodes(entry.name.visible, entry.kind)
            }
            if !entries.contains(where: { $0.id == entry.id }) { entries.append(entry) }
        }
        if let order {
            let named = Set(entries.map(\.id))
            entries = vault.entries.filter { named.contains($0.id) }
                .sorted(by: order, uses: vault.lastUses)
        }
        var rows: [LiveRow] = []
        let asking = entries.count { $0.accessControl.presence.isPerUse }
        var asked = 0
        for entry in entries {
            if entry.accessControl.presence.isPerUse { asked += 1 }
            let use = EntryUse.watch(number: asked, of: asking)
            guard let step = entry.timeStep else { continue }
            let row = LiveRow(entry, step, from: vault)
            // The list names the device on which the entry opens.
            guard entry.isHere || !session.arguments.operands.isEmpty else {
                rows.append(row)
                continue
            }
            do {
                let code = try session.code(of: entry, in: vault, offset: 0, for: use)
                row.keep(code.text, at: code.moment)
            } catch OneTimePasswordError.beforeStart where !entry.accessControl.presence.isPerUse {
                // The entry has no code yet; its first code requires no check.
            }
            rows.append(row)
        }
        return rows
    }

    private static func printOnce(_ rows: [LiveRow], _ session: Session) throws {
        let now = SystemClock.unixTime()
        for row in rows {
            guard row.entry.isHere else {
                let place = Messages.place(of: row.entry) ?? ""
                let name = row.entry.name.visible
                session.printer.note("Skipped \(name), which opens only \(place).")
                continue
            }
            guard let code = row.code(at: now) else {
                throw row.failure ?? OneTimePasswordError.beforeStart
            }
            try session.print(
                [
                    ("account", .text(row.entry.account)), ("code", .text(code)),
                    ("issuer", .text(row.entry.issuer)),
                ] + CodeFacts.timeBased(row.step, at: now),
                orLine: "\(code)  \(row.entry.name.visible)")
        }
    }

    /// Shows the list until the user leaves it.
    private static func showLive(_ rows: [LiveRow], idle: Duration?, _ session: Session) throws {
        let list = LiveList(rows.map(\.entry), alwaysFilters: false)
        var view = LiveView(list: list, idle: idle, help: help, isLive: true)
        let end = try view.run { frame, index in
            frame.line(of: rows[index], at: SystemClock.unixTime())
        } respond: { key, list in
            switch key {
            case .character("q"), .character("Q"): return .end(.left)
            case .enter:
                guard let index = list.selection else { return .continue }
                return .say(copied(rows[index], session))
            default: return .continue
            }
        } isOver: {
            rows.contains { $0.failure != nil }
        }
        // The agent provides no more codes.
        if let failure = rows.lazy.compactMap(\.failure).first { throw failure }
        if end == .idle, let idle { session.printer.note(Messages.ended(after: idle)) }
    }

    private static func help(_ list: LiveList) -> String {
        list.isFiltering
            ? "Enter to copy, Escape to show all"
            : "q to quit, arrows to select, Enter to copy, / to filter "
                + "(\(list.shown.count) of \(list.entries.count))"
    }

    /// Copies the code of `row`, and returns the message for the user.
    private static func copied(_ row: LiveRow, _ session: Session) -> String {
        let now = SystemClock.unixTime()
        guard row.entry.isHere else {
            return Messages.sentence(forClosed: row.entry, .boundElsewhere)
        }
        guard let text = row.code(at: now) else { return "There is no code yet." }
        let code = EntryCode(
            entry: row.entry, text: text, facts: [], end: row.remaining(at: now).map { now + $0 })
        do {
            let copy = try session.codeCopy()
            let seconds = try session.copy(code, by: copy)
            return Messages.copied(row.entry.name, by: copy.route, clearedAfter: seconds)
        } catch {
            return "Not copied: " + FailureReport(error).sentence
        }
    }
}
