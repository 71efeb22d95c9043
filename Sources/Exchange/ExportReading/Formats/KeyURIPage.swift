internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// Pages whose `<code>` elements contain key URIs: Stratum's HTML backup, and the
/// sheets that Watchword writes for printing.
enum KeyURIPage {
    /// The element that identifies a sheet; it comes before the first entry.
    static let sheetMark = "<meta name=\"generator\" content=\"watchword\">"

    static func read(_ text: SecretBytes, _ format: ExportFormat) throws(ExportError) -> ExportRows
    {
        var rows = ExportRows(format)
        try text.withBytes { text throws(ExportError) in
            var rest = text.extracting(0...)
            while let start = rest.firstRange(of: "<code>") {
                rest = rest.extracting(start.upperBound...)
                guard let end = rest.firstRange(of: "</code>") else { throw .damaged(format) }
                var row = ExportRow()
                row.secret = .field(SecretBytes(unescaping: rest.extracting(..<end.lowerBound)))
                try rows.append(row)
                rest = rest.extracting(end.upperBound...)
            }
        }
        return rows
    }
}
