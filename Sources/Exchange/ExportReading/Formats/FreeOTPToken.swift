internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// A token of FreeOTP 1 and 2 and of FreeOTP+.
enum FreeOTPToken {
    /// Reads a token.
    ///
    /// - Parameter secret: The secret, if it is not in the token itself: FreeOTP 2.
    static func fill(
        _ row: inout ExportRow, _ fields: JSONFields, secret: SecretBytes? = nil
    ) throws(ExportRowRefusal) {
        row.issuer = try first(["issuerAlt", "issuerExt", "issuerInt"], fields)
        row.account = try first(["labelAlt", "label"], fields)
        row.algorithm = try fields.text("algo")
        row.digits = fields.number("digits")
        row.period = fields.number("period")
        row.counter = fields.number("counter")
        let type = try fields.text("type")
        row.kind = type.isEmpty ? .totp : ExportRow.Kind(word: type)
        // The app computes Steam codes if this issuer, which the label contained, is "Steam".
        if row.kind == .totp, try fields.text("issuerExt") == "Steam" { row.kind = .steam }
        let own = try fields.bytes("secret")
        if let secret = secret ?? own { row.secret = .bytes(secret) }
    }

    private static func first(
        _ names: [String], _ fields: JSONFields
    ) throws(ExportRowRefusal) -> String {
        for name in names {
            let text = try fields.text(name)
            if !text.isEmpty { return text }
        }
        return ""
    }
}
