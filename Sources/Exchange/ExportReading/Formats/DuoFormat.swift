internal import Exports
internal import WatchwordCoding

/// Duo's JSON.
enum DuoFormat {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let elements = document.elements else { throw .damaged(.duo) }
        // Duo's own accounts have no one-time password.
        let items = elements.filter { item in
            if case .object? = item["otpGenerator"] { return true }
            return item.members == nil
        }
        var rows = ExportRows(.duo)
        var iconCount = 0
        try rows.append(items) { row, fields throws(ExportRowRefusal) in
            row.account = try fields.text("name")
            if fields["logoUri"] != nil { iconCount += 1 }
            guard let generator = try fields.fields("otpGenerator") else { throw .malformed }
            row.secret = try generator.base32("otpSecret")
            row.counter = generator.number("counter")
            row.kind = row.counter == .absent ? .totp : .hotp
        }
        rows.iconCount = iconCount
        return rows
    }
}
