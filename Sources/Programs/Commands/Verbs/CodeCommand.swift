import CommandLineInterface
import SecretVault
import VaultService
import WatchwordSystem

/// `code`: prints the codes of entries.
enum CodeCommand {
    static func run(_ session: Session) throws -> ExitCode {
        // Check the option before the prompt.
        _ = try session.givenMoment()
        let names = session.arguments.operands
        let copy = try copy(of: names, session)
        let time = CodeTime.moment(
            try session.moment(), offset: session.codeOffset, isRefresh: false)
        let vault = try session.openVault(for: NameSearch(names: names, time: time))
        let entries = try entries(named: names, in: vault, session)
        if entries.contains(where: { $0.kind == .totp }) { session.warnAboutClock() }
        let asking = entries.count(where: \.requiresCheckPerUse)
        var asked = 0
        for entry in entries {
            if entry.requiresCheckPerUse { asked += 1 }
            let use = EntryUse.code(number: asked, of: asking)
            let code = try inEntry(entry, among: names.count) {
                try session.entryCode(of: entry, in: vault, for: use)
            }
            if let copy {
                try session.deliver(code, by: copy)
            } else {
                let name = names.count > 1 ? "  " + entry.name.visible : ""
                try session.print(code.record, orLine: code.text + name)
            }
            try session.recordUse(of: entry, in: vault)
        }
        return .done
    }

    /// The way to copy the code; `nil` to print the codes.
    private static func copy(of names: [String], _ session: Session) throws -> CodeCopy? {
        guard session.arguments.has(.copy) else {
            guard session.arguments.has(.clearAfter) else { return nil }
            throw UsageError.needs(Option.clearAfter.name, with: Option.copy.name)
        }
        guard names.count == 1 else {
            throw UsageError.badOperand("NAME", expected: "a single name with --copy")
        }
        return try session.codeCopy()
    }

    /// The entries with these names, each once; all of them have codes.
    private static func entries(
        named names: [String], in vault: any OpenVault, _ session: Session
    ) throws -> [EntrySummary] {
        let all = vault.entries
        var found: [EntrySummary] = []
        for name in names {
            let entry = try all.one(named: name)
            guard !found.contains(where: { $0.id == entry.id }) else { continue }
            try inEntry(entry, among: names.count) { try session.requireCode(of: entry) }
            found.append(entry)
        }
        return found
    }

    /// If there are several entries, adds the entry's name to a failure of `body`.
    private static func inEntry<Result>(
        _ entry: EntrySummary, among count: Int, _ body: () throws -> Result
    ) throws -> Result {
        do { return try body() } catch  where count > 1 {
            throw CommandFailure.inEntry(entry.name.visible, error)
        }
    }
}
