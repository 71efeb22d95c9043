import Arguments
import CommandRunner
import JSONText
import OneTimePassword
import POSIX
import SecretVault

/// `watch`: shows codes as they change.
enum WatchCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.openVault()
        let rows = try rows(of: vault, session)
        guard !rows.isEmpty else { throw .nothingToWatch }
        session.warnAboutClock()
        if session.wantsJSON || !session.printer.outputIsTerminal {
            try printOnce(rows, session)
        } else {
            if let failure = try showLive(rows) { throw failure }
        }
        return .done
    }

    private static func rows(of vault: OpenVault, _ session: Session)
        throws(CommandFailure) -> [LiveRow]
    {
        var entries: [EntrySummary] = []
        let order = try session.givenOrder()
        if session.arguments.operands.isEmpty {
            let all = vault.entries.filter { $0.kind == .totp && $0.tombstone == nil }
            entries = all.filter { $0.accessControl.presence == .perUnlock }
                .sorted(by: order ?? .name, uses: vault.lastUses)
            // Per-use entries are shown only if named, because each one prompts.
            guard all.isEmpty || !entries.isEmpty else { throw .eachRequiresCheck }
            if all.count > entries.count {
                session.printer.note(
                    "Skipped \(all.count - entries.count) "
                        + (all.count - entries.count == 1
                            ? "entry that requires" : "entries that require")
                        + " confirmation at each use; name them to watch them.")
            }
        }
        for name in session.arguments.operands {
            let entry = try vault.entries.one(named: name)
            guard entry.kind == .totp else { throw .noCodes(entry.name.visible, entry.kind) }
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
            switch vault {
            case .own(let own):
                let credential = try session.credential(of: entry, in: own, for: use)
                rows.append(LiveRow(entry, step, credential: credential))
            case .held(let held):
                let code = try session.code(of: entry, in: vault, offset: 0, for: use)
                rows.append(
                    LiveRow(entry, step, from: held, first: code.text, at: code.moment))
            }
        }
        return rows
    }

    private static func printOnce(_ rows: [LiveRow], _ session: Session) throws(CommandFailure) {
        let now = SystemClock.unixTime()
        for row in rows {
            guard let code = row.code(at: now) else {
                throw row.failure ?? .code(.beforeStart)
            }
            if session.wantsJSON {
                var members: [(String, JSONValue)] = [
                    ("account", .text(row.entry.account)), ("code", .text(code)),
                    ("issuer", .text(row.entry.issuer)),
                ]
                members += CodeFacts.timeBased(row.step, at: now)
                try session.printer.line(.object(members))
            } else {
                try session.printer.line("\(code)  \(row.entry.name.visible)")
            }
        }
    }

    /// Shows the codes until the user quits or the agent locks the vault.
    ///
    /// - Returns: why the agent gives no more codes.
    private static func showLive(_ rows: [LiveRow]) throws(CommandFailure) -> CommandFailure? {
        do {
            return try showLive(rows, on: LiveScreen.take())
        } catch {
            throw .terminal(error, asking: .passphrase)
        }
    }

    private static func showLive(
        _ rows: [LiveRow], on screen: consuming LiveScreen
    ) throws(TerminalError) -> CommandFailure? {
        let isColoured = Environment.value("NO_COLOR") == nil
        var top = 0
        while true {
            let size = screen.size
            top = min(top, max(rows.count - (size.rows - 1), 0))
            let frame = LiveFrame(
                columns: size.columns, rows: size.rows, isColoured: isColoured, top: top)
            let bytes = frame.bytes(of: rows, at: SystemClock.unixTime())
            if let failure = rows.lazy.compactMap(\.failure).first { return failure }
            try screen.draw(bytes.span)
            // Wake at each full second, so that the countdown is even.
            switch try screen.wait(timeout: .milliseconds(1000 - SystemClock.milliseconds())) {
            case .key(UInt8(ascii: "q")), .key(UInt8(ascii: "Q")), .key(3): return nil
            case .key(UInt8(ascii: "j")), .key(UInt8(ascii: " ")): top += 1
            case .key(UInt8(ascii: "k")): top = max(top - 1, 0)
            case .key, .redraw: continue
            }
        }
    }
}
