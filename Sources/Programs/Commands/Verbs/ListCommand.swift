import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `list`: the entries, without secrets.
enum ListCommand {
    static func run(_ session: Session) throws -> ExitCode {
        try session.arguments.forbid(.names, .tags)
        guard let vault = try vault(session) else { return .no }
        let wanted = session.arguments.operands.first
        let tags = session.arguments.values(of: .tag)
        let order = try session.givenOrder() ?? .name
        let entries = (wanted.map(vault.entries.holding) ?? vault.entries)
            .tagged(tags).sorted(by: order, uses: vault.lastUses)
        if entries.isEmpty { try vault.entries.explainMissing(wanted, tags) }
        if session.arguments.has(.names) { return try printNames(of: entries, session) }
        if session.arguments.has(.tags) { return try printTags(of: entries, session) }
        if session.wantsJSON {
            let choice = try session.checkChoice()
            for entry in entries {
                let facts = facts(of: entry, in: vault, check: try choice.check(of: entry))
                try session.printer.line(.object(facts))
            }
            return .done
        }
        let columns = session.printer.outputIsTerminal ? StandardStream.output.columns : nil
        let table = EntryTable(entries, of: vault.entries, columns: columns)
        for line in table.lines { try session.printer.line(line) }
        if entries.isEmpty { session.printer.note("The vault is empty; see watchword add --help.") }
        return .done
    }

    /// The vault; `nil` if `--agent-only` is given and the agent does not hold the vault.
    private static func vault(_ session: Session) throws -> (any OpenVault)? {
        guard session.arguments.has(.agentOnly) else { return try session.openVault() }
        if let vault = try session.heldVault() { return vault }
        return try session.openSystemVault(asks: false)
    }

    /// Prints one name per line, for programs in which users choose a name.
    private static func printNames(of entries: [EntrySummary], _ session: Session)
        throws -> ExitCode
    {
        for entry in entries {
            try session.print([("name", .text(entry.name.text))], orLine: entry.name.visible)
        }
        return .done
    }

    /// Prints one tag per line, with the number of its entries in JSON.
    private static func printTags(of entries: [EntrySummary], _ session: Session) throws
        -> ExitCode
    {
        for tag in entries.tags {
            let count = Int64(entries.tagged([tag]).count)
            try session.print(
                [("entries", .number(count)), ("tag", .text(tag))], orLine: VisibleText.of(tag))
        }
        return .done
    }

    /// The fields that are `null` for some entries.
    private static let optionalFields = [
        "algorithm", "binding", "counter", "device", "digits", "here", "icon", "note", "period",
        "reuse", "style", "wipe_reason", "wiped_at",
    ]

    /// An entry as JSON, without its secret.
    static func facts(of entry: EntrySummary, in vault: any OpenVault, check: EntryCheck)
        -> Record
    {
        var members: Record = [
            ("account", .text(entry.account)), ("check", .text(check.rawValue)),
            ("created_at", .text(Timestamp(unixTime: entry.created).text)),
            ("grade", .text(check.grade(isEnforced: vault.isKeptBySystem))),
            ("id", .text(entry.id.text)),
            ("issuer", .text(entry.issuer)), ("name", .text(entry.name.text)),
            ("on_failure", .text(entry.accessControl.onFailure.word)),
            ("presence", .text(entry.accessControl.presence.word)),
            ("type", .text(entry.kind.rawValue)),
        ]
        if let binding = entry.binding {
            members += Optional(binding.binding).record
            members.append(("device", .text(binding.name)))
            members.append(("here", .flag(binding.isHere)))
        }
        if let algorithm = entry.algorithm {
            members.append(("algorithm", .text(algorithm.rawValue)))
        }
        switch entry.style {
        case .decimal(let length): members.append(("digits", .number(Int64(length.digits))))
        case .steam: members.append(("style", .text("steam")))
        case nil: break
        }
        if let counter = vault.counter(of: entry.id) {
            members.append(("counter", .counter(counter)))
        }
        if entry.accessControl.reuse != .none {
            members.append(("reuse", .number(Int64(entry.accessControl.reuse.seconds))))
        }
        let details = entry.details
        members.append(("tags", .list(details.tags.map { .text($0) })))
        if !details.note.isEmpty { members.append(("note", .text(details.note))) }
        if !details.icon.isEmpty { members.append(("icon", .text(details.icon))) }
        members.append(("favourite", .flag(details.isFavourite)))
        if let period = entry.period { members.append(("period", .number(period))) }
        members.append(("vanished", .flag(entry.hasVanished)))
        // For a vanished entry, the time and the reason may be forged by anybody who can write the
        // file.
        if let tombstone = entry.tombstone, !entry.hasVanished {
            members.append(("wiped_at", .text(Timestamp(unixTime: tombstone.time).text)))
            members.append(("wipe_reason", .text(tombstone.reason.rawValue)))
        }
        return members.filling(optionalFields).byName
    }
}
