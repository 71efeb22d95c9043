internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// The JSON that TOTP Authenticator's files contain.
enum TOTPAuthenticatorJSON {
    /// Reads an object whose only key is a JSON list as text.
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let members = document.members, members.count == 1 else {
            throw .damaged(.totpAuthenticator)
        }
        let text = SecretBytes(copying: Array(members[0].0.utf8).span)
        return try read(items: try readExportJSON(text, .totpAuthenticator))
    }

    /// Reads the list.
    static func read(items: JSONValue) throws(ExportError) -> ExportRows {
        guard let elements = items.elements else { throw .damaged(.totpAuthenticator) }
        var rows = ExportRows(.totpAuthenticator)
        try rows.append(elements) { row, fields throws(ExportRowRefusal) in
            let issuer = try fields.text("issuer")
            row.issuer = issuer == "Unknown" ? "" : issuer
            row.account = try fields.text("name")
            row.digits = fields.numberText("digits")
            row.period = fields.numberText("period")
            guard let key = try fields.secret("key") else { throw .noSecret }
            switch fields.numberText("base") {
            case .value(16): row.secret = .hex(key)
            case .absent, .value(32): row.secret = .base32(key)
            case .value(64):
                guard let secret = key.decodedBase64() else { throw .badSecret }
                row.secret = .bytes(secret)
            default: throw .badSecret
            }
        }
        return rows
    }
}
