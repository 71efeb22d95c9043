internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// andOTP's JSON.
enum AndOTPFormat {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let elements = document.elements else { throw .damaged(.andOTP) }
        var rows = ExportRows(.andOTP)
        try rows.append(elements) { row, fields throws(ExportRowRefusal) in
            try fill(&row, fields)
        }
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ fields: JSONFields
    ) throws(ExportRowRefusal) {
        row.issuer = try fields.text("issuer")
        row.account = try fields.text("label")
        if fields["issuer"] == nil, let separator = row.account.firstRange(of: " - ") {
            // Old files have only a label, "issuer - account".
            row.issuer = String(row.account[..<separator.lowerBound])
            row.account = String(row.account[separator.upperBound...])
        }
        row.tags = try fields.texts("tags")
        let icon = fields["thumbnail"]?.string ?? ""
        row.icon = icon == "Default" ? "" : icon
        let type = try fields.text("type")
        row.kind = type.isEmpty ? .totp : ExportRow.Kind(word: type)
        row.secret = try fields.base32("secret")
        row.algorithm = try fields.text("algorithm")
        row.digits = fields.number("digits")
        row.period = fields.number("period")
        row.counter = fields.number("counter")
        if row.kind == .motp { try row.useTextOfBase32() }
    }
}

extension String {
    /// The first place where `word` occurs.
    func firstRange(of word: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(word) {
                return start..<index(start, offsetBy: word.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
