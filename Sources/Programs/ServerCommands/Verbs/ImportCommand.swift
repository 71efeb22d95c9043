import CommandLineInterface
import Exports
import Verification
import WatchwordCoding
import WatchwordSystem

/// `import`.
enum ImportCommand {
    static func run(_ session: ServerSession) async throws -> ExitCode {
        let arguments = session.arguments
        let isRehearsal = arguments.has(.dryRun)
        // The file's reader must have ended before the server's keys are opened.
        let file = try ServerExport(session.operand, arguments)
        let rows = try file.rows(arguments)
        let context = try ServerContext.open(ServerPaths(arguments), making: !isRehearsal)
        defer { context.close() }
        let importer = KeyImporter(verifier: context.verifier)
        let report = ImportReport(file, session)
        let results =
            isRehearsal
            ? try await importer.rehearse(rows)
            : try await importer.run(rows) { row, result in try report.print(row, result) }
        if isRehearsal {
            for (row, result) in zip(rows, results) { try report.print(row, result) }
        }
        try report.summarise(results)
        return results.allSatisfy(\.isImportedOrPresent) ? .done : .no
    }
}

/// Imports rows, one commit each, so that an interrupted import can be repeated.
private struct KeyImporter {
    let verifier: Verifier

    func run(
        _ rows: [ImportRow],
        _ finished: (ImportRow, ImportRow.Result) throws -> Void
    ) async throws -> [ImportRow.Result] {
        var results: [ImportRow.Result] = []
        for row in rows {
            let result: ImportRow.Result
            switch row.content {
            case .key(let given, let subject):
                result = ImportRow.Result(
                    try await verifier.importOneTimePassword(given, for: subject))
            case .refused(let reason): result = .refused(reason)
            }
            results.append(result)
            try finished(row, result)
        }
        return results
    }

    func rehearse(_ rows: [ImportRow]) async throws -> [ImportRow.Result] {
        var given: [(given: OneTimePasswordImport, subject: Subject)] = []
        for row in rows {
            if case .key(let key, let subject) = row.content {
                given.append((given: key, subject: subject))
            }
        }
        let imports = given
        let outcomes = try await verifier.rehearse(imports)
        var rest = outcomes[...]
        return rows.compactMap { row in
            if case .refused(let reason) = row.content { return .refused(reason) }
            return rest.popFirst().map { ImportRow.Result($0) }
        }
    }
}

/// Prints the result of each row, and a summary.
private struct ImportReport {
    let file: ServerExport
    let session: ServerSession

    init(_ file: ServerExport, _ session: ServerSession) {
        self.file = file
        self.session = session
    }

    private var isRehearsal: Bool { session.arguments.has(.dryRun) }

    func print(_ row: ImportRow, _ result: ImportRow.Result) throws {
        if session.wantsJSON {
            try session.printer.line(.object(facts(row, result)))
        } else {
            let subject = row.subject.isEmpty ? "" : " \(row.subject):"
            try session.printer.line(
                "row \(row.number):\(subject) \(words(row, result))".visibleOnTerminal)
        }
    }

    func summarise(_ results: [ImportRow.Result]) throws {
        let counts = ["imported", "present", "refused"].map { word in
            (word, results.count { $0.word == word })
        }
        let codes = file.export.emergencyCodeCount
        guard !session.wantsJSON else {
            try session.printer.line(
                .object(
                    [("file", .text(file.name)), ("format", .text(file.export.format.name))]
                        + counts.map { ($0.0, .number(Int64($0.1))) }
                        + [("emergency_codes", .number(Int64(codes)))] + rehearsal))
            return
        }
        try session.printer.line(
            "\(file.name): \(file.export.format.name): ".visibleOnTerminal
                + "\(counts[0].1) imported, \(counts[1].1) already present, "
                + "\(counts[2].1) refused"
                + (codes > 0 ? "; \(codes) emergency codes left out" : "")
                + (isRehearsal ? "; dry run, nothing was changed" : ""))
    }

    private func words(_ row: ImportRow, _ result: ImportRow.Result) -> String {
        switch result {
        case .imported:
            row.hasShortKey ? "imported, with a key of fewer than 128 bits" : "imported"
        case .present: "already present"
        case .refused(let reason): "refused: \(ServerMessages.sentence(for: reason))"
        }
    }

    private func facts(_ row: ImportRow, _ result: ImportRow.Result) -> [(String, JSONValue)] {
        var facts: [(String, JSONValue)] = [
            ("row", .number(Int64(row.number))), ("result", .text(result.word)),
        ]
        if !row.subject.isEmpty { facts.append(("subject", .text(row.subject))) }
        switch result {
        case .imported(let id):
            // A rehearsal's id is not the one that the credential will have.
            if !isRehearsal { facts.append(("credential", .text(id.text))) }
            if row.hasShortKey { facts.append(("short_key", .flag(true))) }
        case .present(let id): facts.append(("credential", .text(id.text)))
        case .refused(let reason): facts.append(("reason", .text(reason.rawValue)))
        }
        return facts + rehearsal
    }

    private var rehearsal: [(String, JSONValue)] {
        isRehearsal ? [("dry_run", .flag(true))] : []
    }
}
