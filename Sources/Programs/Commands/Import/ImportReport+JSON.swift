import CommandLineInterface
import Exports
import SecretVault
import VaultService
import WatchwordCoding

extension ImportReport {
    /// An item as JSON.
    static func json(
        _ item: (finding: Finding, result: ImportResult), _ exportedFiles: [String: ExportedFile],
        _ session: Session
    ) -> JSONValue {
        let finding = item.finding
        var members: [(String, JSONValue)] = [("file", .text(finding.file))]
        if let export = exportedFiles[finding.file] {
            members.append(("format", .text(export.format.name)))
        }
        if let line = finding.line { members.append(("line", .number(Int64(line)))) }
        if let row = finding.row { members.append(("row", .number(Int64(row)))) }
        members += facts(of: item.result, name: finding.name)
        let warnings = (finding.warnings + item.result.warnings).map(Messages.sentence)
        if !warnings.isEmpty {
            members.append(("warnings", .list(warnings.map { .text($0) })))
        }
        if session.arguments.has(.dryRun) { members.append(("dry_run", .flag(true))) }
        return .object(members)
    }

    private static func facts(
        of result: ImportResult, name: EntryName?
    ) -> [(String, JSONValue)] {
        let entry = name.map { [("entry", JSONValue.text($0.text))] } ?? []
        switch result {
        case .added(let name): return [("result", .text("added")), ("entry", .text(name.text))]
        case .replaced(let name):
            return [("result", .text("replaced")), ("entry", .text(name.text))]
        case .present(let name, let twin, _):
            return [
                ("result", .text("skipped")), ("entry", .text(name.text)),
                ("reason", .text("same-codes")), ("same_as", .text(twin.text)),
            ]
        case .updated(let name, let twin, let updates, _):
            return [
                ("result", .text("updated")), ("entry", .text(name.text)),
                ("same_as", .text(twin.text)),
            ] + facts(of: updates)
        case .declined(let name):
            return [
                ("result", .text("skipped")), ("entry", .text(name.text)),
                ("reason", .text("declined")),
            ]
        case .skipped(let reason):
            return [("result", .text("skipped"))] + entry + [("reason", .text(reason.rawValue))]
        case .refused(let refusal):
            let reason = JSONValue.text(Messages.slug(for: refusal))
            return [("result", .text("refused"))] + entry + [("reason", reason)]
                + details(of: refusal)
        }
    }

    /// The reason is the first update; `details_added` can accompany any reason.
    private static func facts(of updates: [ImportUpdate]) -> [(String, JSONValue)] {
        var facts: [(String, JSONValue)] = []
        for update in updates {
            switch update {
            case .counter(let old, let new):
                facts += [
                    ("reason", .text("greater-counter")), ("old_counter", .counter(old)),
                    ("counter", .counter(new)),
                ]
            case .pin: facts.append(("reason", .text("new-pin")))
            case .details:
                if facts.isEmpty { facts.append(("reason", .text("new-details"))) }
                facts.append(("details_added", .flag(true)))
            }
        }
        return facts
    }

    private static func details(of refusal: Finding.Refusal) -> [(String, JSONValue)] {
        switch refusal {
        case .missingParts(let parts, let size):
            [
                ("missing", .list(parts.map { .number(Int64($0)) })),
                ("parts", .number(Int64(size))),
            ]
        case .missingPictures(let pictures):
            [("missing", .list(pictures.map { .number(Int64($0)) }))]
        case .unrecognisedLines(let count), .incompleteExports(let count):
            [("count", .number(Int64(count)))]
        default: []
        }
    }
}
