internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// The JSON in Raivo's archive, whose values are all texts.
enum RaivoJSON {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        // If the export failed, the app wrote an object with a message instead.
        guard let elements = document.elements else { throw .damaged(.raivo) }
        var rows = ExportRows(.raivo)
        try rows.append(elements) { row, fields throws(ExportRowRefusal) in
            row.issuer = try fields.text("issuer")
            row.account = try fields.text("account")
            row.secret = try fields.base32("secret")
            row.algorithm = try fields.text("algorithm")
            row.digits = fields.numberText("digits")
            row.period = fields.numberText("timer")
            row.counter = fields.numberText("counter")
            row.kind = ExportRow.Kind(word: try fields.text("kind"))
            row.isFavourite = fields["pinned"]?.string == "true" || fields["pinned"]?.truth == true
            row.icon = fields["iconValue"]?.string ?? ""
        }
        return rows
    }
}
