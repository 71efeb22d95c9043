internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// cotp's database, and its export, which is the same without encryption.
enum CotpFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard document["cipher"] != nil else { return try rows(document) }
        guard let password else { throw .passwordNeeded(.cotp) }
        let database = try CotpContainer.open(document, password: password)
        return try rows(try readExportJSON(database, .cotp))
    }

    private static func rows(_ database: JSONValue) throws(ExportError) -> ExportRows {
        // The first version was only the list.
        if let version = database["version"] {
            guard let version = version.wholeNumber else { throw .damaged(.cotp) }
            guard version <= 2 else { throw .newerVersion(.cotp) }
        }
        guard let elements = database.elements ?? database["elements"]?.elements else {
            throw .damaged(.cotp)
        }
        var rows = ExportRows(.cotp)
        try rows.append(elements) { row, fields throws(ExportRowRefusal) in
            row.issuer = try fields.text("issuer")
            row.account = try fields.text("label")
            row.kind = ExportRow.Kind(word: try fields.text("type"))
            row.secret = try fields.base32("secret")
            row.algorithm = try fields.text("algorithm")
            row.digits = fields.number("digits")
            row.period = fields.number("period")
            row.counter = fields.number("counter")
            row.pin = try fields.secret("pin")
            // The app computes Mobile-OTP codes from the text itself.
            if row.kind == .motp, case .base32(let text) = row.secret { row.secret = .text(text) }
        }
        return rows
    }
}
