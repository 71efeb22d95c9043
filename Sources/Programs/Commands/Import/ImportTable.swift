import CommandLineInterface
import Exports
import OneTimePassword
import SecretVault
import VaultService

/// The table that a dry run prints: result, issuer, account, kind, place and reason.
struct ImportTable {
    private let rows: [[String]]

    /// The widest column; the last one is not limited.
    private static let mostColumns = 32
    private static let header = ["RESULT", "ISSUER", "ACCOUNT", "KIND", "FROM", "REASON"]

    init(_ items: [(finding: Finding, result: ImportResult)]) {
        rows = items.map { item in
            let name = item.finding.name ?? item.result.name
            return [
                item.result.planned, VisibleText.of(name?.issuer ?? ""),
                VisibleText.of(name?.account ?? ""), item.finding.kind, item.finding.place,
                item.result.reason,
            ]
        }
    }

    func print(_ printer: Printer) throws {
        guard !rows.isEmpty else { return }
        let last = ImportTable.header.count - 1
        let cells = ([ImportTable.header] + rows).map { row in
            row.enumerated().map { column, text in
                column == last ? text : text.fitting(columns: ImportTable.mostColumns)
            }
        }
        let widths = ImportTable.header.indices.map { column in
            cells.map { $0[column].columns }.max() ?? 0
        }
        for row in cells {
            var line = ""
            for (column, text) in row.enumerated() {
                line += text
                guard row[(column + 1)...].contains(where: { !$0.isEmpty }) else { break }
                line += String(repeating: " ", count: widths[column] - text.columns + 2)
            }
            try printer.line(line)
        }
    }
}

extension Finding {
    /// The kind of code.
    fileprivate var kind: String {
        switch content {
        case .entry(.oneTimePassword(let credential), _, _) where credential.style == .steam:
            "steam"
        case .entry(let content, _, _): content.kind.rawValue
        case .refused, .skipped: ""
        }
    }
}

extension ImportResult {
    /// The result that a dry run predicts.
    fileprivate var planned: String {
        switch self {
        case .entry(.added): "add"
        case .entry(.replaced): "replace"
        case .entry(.updated): "update"
        case .entry(.present), .entry(.declined), .skipped: "skip"
        case .refused(let refusal) where refusal.leavesUnread: "unread"
        case .entry(.refused), .refused: "refuse"
        }
    }
}
