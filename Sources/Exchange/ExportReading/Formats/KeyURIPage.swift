internal import WatchwordCryptography
internal import Exports
internal import OneTimePassword

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
                row.secret = .field(unescaped(rest.extracting(..<end.lowerBound)))
                try rows.append(row)
                rest = rest.extracting(end.upperBound...)
            }
        }
        return rows
    }

    /// The text with HTML's entities for ASCII characters decoded.
    private static func unescaped(_ text: Span<UInt8>) -> SecretBytes {
        let entities: [(String, UInt8)] = [
            ("&amp;", UInt8(ascii: "&")), ("&lt;", UInt8(ascii: "<")),
            ("&gt;", UInt8(ascii: ">")), ("&quot;", UInt8(ascii: "\"")),
            ("&#39;", UInt8(ascii: "'")), ("&#x27;", UInt8(ascii: "'")),
            ("&#x2b;", UInt8(ascii: "+")), ("&#43;", UInt8(ascii: "+")),
        ]
        return SecretBytes(capacity: text.count) { output in
            var index = 0
            while index < text.count {
                let rest = text.extracting(index...)
                if let (entity, byte) = entities.first(where: { rest.hasPrefixIgnoringCase($0.0) })
                {
                    output.append(byte)
                    index += entity.utf8.count
                } else {
                    output.append(text[index])
                    index += 1
                }
            }
        }
    }
}
