import CommandLineInterface
import Exports
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography

/// `export`: writes a backup, entries in the format of a different app, or a sheet for printing.
enum ExportCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let request = try ExportRequest(session)
        let vault = try session.openVaultForSecrets()
        let selection = try ExportSelection(of: vault.entries, session)
        selection.reportBound(session)
        if request.destination == .standardOutput, !request.isEncrypted {
            let isAll = session.arguments.values(of: .only).isEmpty
            try session.confirmShowing("the keys of \(isAll ? "all" : "these") entries")
        }
        let password =
            request.isEncrypted ? try session.newExportPassword(for: request.format) : nil
        // No other app supports static secrets, so they are not opened.
        let plain =
            request.format == .backup ? [] : selection.chosen.filter { $0.kind == .secret }
        let skipped = Set(plain.map(\.id))
        let chosen = selection.chosen.filter { !skipped.contains($0.id) }
        let entries = try opened(chosen, in: vault, session)
        let result: ExportResult
        switch (request.format, password) {
        case (.backup, let password?):
            result = try ExportResult(backupOf: entries, password: password, session)
        case (.backup, nil): throw CommandFailure.emptyPassphrase
        case (.app(let target), _):
            result = try ExportResult(entries, for: target, password: password, plain: plain)
        }
        guard result.count > 0 || request.isPlainList else {
            selection.report(session)
            result.report.print(session)
            throw CommandFailure.nothingToExport
        }
        try deliver(result, entries, selection.bound, request, session)
        selection.report(session)
        result.report.print(session)
        let leftOut = selection.vanished + selection.bound
        return result.report.isIncomplete || !leftOut.isEmpty ? .no : .done
    }

    /// Opens entries.
    ///
    /// All checks are asked for before anything is written, so that a backup is complete or
    /// empty.
    private static func opened(
        _ entries: [EntrySummary], in vault: any OpenVault, _ session: Session
    ) throws -> [OpenedEntry] {
        let asking = entries.filter(\.requiresCheckPerUse)
        var contents: [RecordID: EntryContent] = [:]
        for (index, entry) in asking.enumerated() {
            let use = EntryUse.export(number: index + 1, of: asking.count)
            contents[entry.id] = try session.content(of: entry, in: vault, for: use)
        }
        let others = entries.filter { contents[$0.id] == nil }
        let opened = try session.contents(of: others, in: vault)
        for (entry, content) in zip(others, opened) { contents[entry.id] = content }
        return entries.compactMap { entry in
            contents[entry.id].map { OpenedEntry(summary: entry, content: $0) }
        }
    }

    private static func deliver(
        _ result: ExportResult, _ entries: [OpenedEntry], _ bound: [EntrySummary],
        _ request: ExportRequest, _ session: Session
    ) throws {
        guard case .file(let path) = request.destination else {
            guard session.wantsJSON else {
                return try ExportFile.print(result.documents, request.format, session)
            }
            return try printJSON(entries, session)
        }
        let files = try ExportFile.write(result.documents, request.format, to: path, session)
        try session.print(
            result.report.record(
                files: files, count: result.count, isEncrypted: request.isEncrypted, bound: bound),
            orNote: "Exported \(Messages.entries(result.count)) to "
                + files.map(VisibleText.of).joined(separator: ", ") + ".")
    }

    private static func printJSON(_ entries: [OpenedEntry], _ session: Session) throws {
        for entry in entries {
            guard let exported = entry.exported else { continue }
            try session.printer.line(
                .object([
                    ("account", .text(entry.summary.account)),
                    ("issuer", .text(entry.summary.issuer)),
                    ("uri", .secret(keyURI(of: exported))),
                ]))
        }
    }
}

extension ExportRequest {
    /// Whether it is the list of URIs on standard output, which may be empty.
    fileprivate var isPlainList: Bool {
        format == .app(.keyURIs) && destination == .standardOutput
    }
}
