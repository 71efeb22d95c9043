import CommandLineInterface
import Exports
import OneTimePassword
import Pictures
import SecretVault
import VaultService
import WatchwordCoding

/// The output of an import.
///
/// The items of small files are listed; of larger ones, only those that were not imported. Each
/// file with several items gets a summary, and one line for its warnings.
struct ImportReport {
    private let session: Session
    private let items: [(finding: Finding, result: ImportResult)]
    private let exportedFiles: [String: ExportedFile]

    /// Files with more items are not listed item by item.
    static let mostListed = 20

    init(_ scan: ImportScan, _ results: [ImportResult], _ session: Session) {
        self.session = session
        items = Array(zip(scan.findings, results)).map { (finding: $0.0, result: $0.1) }
        exportedFiles = scan.exportedFiles
    }

    private var isRehearsal: Bool { session.arguments.has(.dryRun) }
    private var isVerbose: Bool { session.arguments.has(.verbose) }

    func print() throws {
        if session.wantsJSON {
            for item in items {
                try session.printer.line(ImportReport.json(item, exportedFiles, session))
            }
            return summariseAll(files: 0)
        }
        let files = files
        if isRehearsal { try ImportTable(items).print(session.printer) }
        for file in files {
            if !isRehearsal { try list(file.items) }
            if isSummarised(file) { try session.printer.line(summary(of: file)) }
            warn(of: file)
        }
        summariseAll(files: files.count(where: isSummarised))
    }

    /// A file and its items.
    private struct File {
        let name: String
        var items: [(finding: Finding, result: ImportResult)] = []
    }

    /// The files in the order of their first items.
    private var files: [File] {
        var files: [File] = []
        var positions: [String: Int] = [:]
        for item in items {
            let name = item.finding.file
            if positions[name] == nil {
                positions[name] = files.count
                files.append(File(name: name))
            }
            if let position = positions[name] { files[position].items.append(item) }
        }
        return files
    }

    private func isSummarised(_ file: File) -> Bool {
        file.items.count > 1 || exportedFiles[file.name] != nil
    }

    private func list(_ items: [(finding: Finding, result: ImportResult)]) throws {
        if isVerbose || items.count <= ImportReport.mostListed {
            for item in items { try session.printer.line(line(for: item)) }
            return
        }
        let notable = items.filter { $0.result.isNotable }
        for item in notable.prefix(ImportReport.mostListed) {
            try session.printer.line(line(for: item))
        }
        let rest = notable.count - ImportReport.mostListed
        if rest > 0, let file = items.first?.finding.file {
            try session.printer.line(
                "\(Finding.visibleName(of: file)): \(rest) more not imported; --verbose shows each")
        }
    }

    private func line(for item: (finding: Finding, result: ImportResult)) -> String {
        let result = item.result
        let outcome = "\(item.finding.place): \(result.word): "
        guard let name = result.nameInVault ?? item.finding.name else {
            let tried = isVerbose ? result.tried.joined(separator: ", ") : ""
            return outcome + result.reason + (tried.isEmpty ? "" : " (tried: \(tried))")
        }
        return outcome + name.visible + (result.reason.isEmpty ? "" : " (\(result.reason))")
    }

    private func summary(of file: File) -> String {
        let export = exportedFiles[file.name]
        let kind = export.map { ExportMessages.plainNoun(for: $0.format) + ": " } ?? ""
        var parts = ImportCounts(file.items.map(\.result), isRehearsal: isRehearsal).parts
        if let omissions = export?.omissions { parts.append(omissions) }
        return "\(Finding.visibleName(of: file.name)): \(kind)" + parts.joined(separator: ", ")
    }

    private func warn(of file: File) {
        let warnings = file.items.flatMap { item in
            let finding = item.finding
            // An entry of an export has no line number, so its name identifies it.
            let name = finding.line == nil ? finding.name.map { ", \($0.visible)" } : nil
            return (finding.warnings + item.result.warnings).map {
                (place: finding.place + (name ?? ""), warning: $0)
            }
        }
        if isVerbose || warnings.count == 1 {
            for (place, warning) in warnings {
                session.printer.warn("\(place): \(Messages.sentence(for: warning))")
            }
        } else if !warnings.isEmpty {
            session.printer.note(
                Finding.visibleName(of: file.name) + ": "
                    + Messages.summary(of: warnings.map(\.warning)))
        }
    }

    /// Prints the totals of the whole import, unless the only file's summary contains them.
    private func summariseAll(files: Int) {
        let counts = ImportCounts(items.map(\.result), isRehearsal: isRehearsal)
        if isRehearsal {
            session.printer.note("Dry run: nothing was changed. \(counts.text).")
        } else if files != 1 || self.files.count > 1 {
            session.printer.note("\(counts.text).")
        }
    }
}

/// The number of items with each result.
struct ImportCounts {
    private var added = 0
    private var replaced = 0
    private var updated = 0
    private var present = 0
    private var declined = 0
    private var refused = 0
    private var unread = 0
    private var skipped: [Finding.SkipReason: Int] = [:]
    /// The words for changes; a dry run says what would change.
    private let (addedWord, replacedWord, updatedWord): (String, String, String)

    init(_ results: [ImportResult], isRehearsal: Bool) {
        (addedWord, replacedWord, updatedWord) =
            isRehearsal
            ? ("would be added", "would be replaced", "would be updated")
            : ("added", "replaced", "updated")
        for result in results {
            switch result {
            case .entry(.added): added += 1
            case .entry(.replaced): replaced += 1
            case .entry(.updated): updated += 1
            case .entry(.present): present += 1
            case .entry(.declined): declined += 1
            case .skipped(let reason): skipped[reason, default: 0] += 1
            case .refused(let refusal) where refusal.leavesUnread: unread += 1
            case .entry(.refused), .refused: refused += 1
            }
        }
    }

    /// All totals; those of updated entries and of unread files only if they are not zero.
    var text: String {
        let skipped = skipped.values.reduce(present + declined, +)
        let updated = updated > 0 ? "\(updated) \(updatedWord), " : ""
        return "\(added) \(addedWord), \(replaced) \(replacedWord), \(updated)\(skipped) skipped, "
            + "\(refused) refused" + (unread > 0 ? ", \(unread) not read" : "")
    }

    /// The totals that are not zero, with the reasons of skipped items.
    var parts: [String] {
        var parts = [
            (added, addedWord), (replaced, replacedWord), (updated, updatedWord),
            (present, "already present"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if declined > 0 { parts.append("\(declined) skipped (at your request)") }
        for reason in Finding.SkipReason.allCases {
            guard let count = skipped[reason] else { continue }
            parts.append("\(count) skipped (\(Messages.word(for: reason)))")
        }
        if refused > 0 { parts.append("\(refused) refused") }
        if unread > 0 { parts.append("\(unread) not read") }
        return parts
    }
}

/// The result of importing a finding.
enum ImportResult {
    /// The outcome for the entry that was found.
    case entry(ItemOutcome)
    /// There was no entry to import.
    case skipped(Finding.SkipReason)
    case refused(Finding.Refusal)

    var isRefusal: Bool {
        switch self {
        case .refused, .entry(.refused): true
        case .skipped, .entry: false
        }
    }

    /// The methods that were tried to find a QR code in an image that has none.
    var tried: [String] {
        if case .refused(.picture(.noSymbol(tried: let tried))) = self { tried } else { [] }
    }

    /// The result in JSON.
    var code: String {
        if case .refused(let refusal) = self, refusal.leavesUnread { "unread" } else { word }
    }

    /// The action, in a word or two.
    var word: String {
        switch self {
        case .refused(let refusal) where refusal.leavesUnread: "not read"
        case .entry(.added): "added"
        case .entry(.replaced): "replaced"
        case .entry(.updated): "updated"
        case .entry(.present), .entry(.declined), .skipped: "skipped"
        case .entry(.refused), .refused: "refused"
        }
    }

    /// The item's name, if it could be an entry.
    var name: EntryName? {
        switch self {
        case .entry(.added(let name)), .entry(.replaced(let name)),
            .entry(.present(let name, _, _)), .entry(.updated(let name, _, _, _)),
            .entry(.declined(let name)):
            name
        case .entry(.refused), .skipped, .refused: nil
        }
    }

    /// The name of the vault's entry that the result concerns.
    var nameInVault: EntryName? {
        if case .entry(.updated(_, let twin, _, _)) = self { twin } else { name }
    }

    var reason: String {
        switch self {
        case .entry(.added), .entry(.replaced): ""
        case .entry(.present(let name, let twin, _)):
            Messages.sentence(forSkipping: name, as: twin)
        case .entry(.updated(_, _, let updates, _)): Messages.sentence(for: updates)
        case .entry(.declined): "at your request"
        case .entry(.refused(let refusal)): Messages.sentence(for: refusal)
        case .skipped(let reason): Messages.sentence(for: reason)
        case .refused(let refusal): Messages.sentence(for: refusal)
        }
    }

    /// Warnings about details of the item that were not added to the vault.
    var warnings: [ImportWarning] {
        switch self {
        case .entry(.present(_, _, let missing)), .entry(.updated(_, _, _, let missing)):
            missing.map(ImportWarning.init)
        case .entry, .skipped, .refused: []
        }
    }

    /// Whether the item is reported individually even if there are many items.
    var isNotable: Bool {
        switch self {
        case .entry(.declined), .entry(.refused), .skipped, .refused: true
        case .entry: false
        }
    }
}

extension ImportWarning {
    fileprivate init(_ missing: MissingDetail) {
        self =
            switch missing {
            case .note: .otherNote
            case .tag: .leftOut(.tag)
            }
    }
}

extension ImportReport {
    /// An item as JSON.
    static func json(
        _ item: (finding: Finding, result: ImportResult), _ exportedFiles: [String: ExportedFile],
        _ session: Session
    ) -> JSONValue {
        let finding = item.finding
        var members: Record = [("file", .text(finding.file))]
        if let export = exportedFiles[finding.file] {
            members.append(("format", .text(export.format.name)))
        }
        if let line = finding.line { members.append(("line", .number(Int64(line)))) }
        if let row = finding.row { members.append(("row", .number(Int64(row)))) }
        members.append(("result", .text(item.result.code)))
        if let name = item.result.name ?? finding.name {
            members.append(("entry", .text(name.text)))
        }
        members += facts(of: item.result)
        members.append(("tried", .list(item.result.tried.map { .text($0) })))
        let warnings = (finding.warnings + item.result.warnings).map(Messages.sentence)
        members.append(("warnings", .list(warnings.map { .text($0) })))
        members.append(("dry_run", .flag(session.arguments.has(.dryRun))))
        return .object(members.filling(allFields))
    }

    /// The fields of each item, with the default values of missing ones.
    private static let allFields: Record = [
        ("file", .null), ("format", .null), ("line", .null), ("row", .null), ("result", .null),
        ("entry", .null), ("reason", .null), ("same_as", .null), ("old_counter", .null),
        ("counter", .null), ("details_added", .flag(false)), ("missing", .list([])),
        ("parts", .null), ("count", .null), ("tried", .list([])), ("warnings", .list([])),
        ("dry_run", .flag(false)),
    ]

    private static func facts(of result: ImportResult) -> Record {
        switch result {
        case .entry(.added), .entry(.replaced): []
        case .entry(.present(_, let twin, _)):
            [("reason", .text("same-codes")), ("same_as", .text(twin.text))]
        case .entry(.updated(_, let twin, let updates, _)):
            [("same_as", .text(twin.text))] + facts(of: updates)
        case .entry(.declined): [("reason", .text("declined"))]
        case .entry(.refused(let refusal)): [("reason", .text(Messages.slug(for: refusal)))]
        case .skipped(let reason): [("reason", .text(reason.rawValue))]
        case .refused(let refusal):
            [("reason", .text(Messages.slug(for: refusal)))] + details(of: refusal)
        }
    }

    /// The reason is the first update; `details_added` can accompany any reason.
    private static func facts(of updates: [ImportUpdate]) -> Record {
        var facts: Record = []
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

    private static func details(of refusal: Finding.Refusal) -> Record {
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
