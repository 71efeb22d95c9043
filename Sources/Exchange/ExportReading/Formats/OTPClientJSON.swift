internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding
internal import OneTimePassword

/// The JSON that OTPClient's databases contain.
enum OTPClientJSON {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let elements = document.elements else { throw .damaged(.otpClient) }
        var rows = ExportRows(.otpClient)
        try rows.append(elements) { row, fields throws(ExportRowRefusal) in
            row.issuer = try fields.text("issuer")
            row.account = try fields.text("label")
            row.tags = [try fields.text("group")]
            row.kind = ExportRow.Kind(word: try fields.text("type"))
            if row.kind == .totp, row.issuer.asciiLowercased == "steam" { row.kind = .steam }
            row.secret = try fields.base32("secret")
            row.algorithm = try fields.text("algo")
            row.digits = fields.number("digits")
            row.period = fields.number("period")
            row.counter = fields.number("counter")
        }
        return rows
    }
}
