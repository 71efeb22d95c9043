internal import Cryptography
internal import Interchange
internal import JSONText

/// A `maFile` or the JSON of Steam's app (formats.md 4.17).
///
/// Everything but the shared secret and the account's name is as sensitive as the secret, and is
/// not kept.
enum SteamFormat {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        var rows = ExportRows(.steam)
        let accounts = document["accounts"]?.members?.map(\.1) ?? [document]
        try rows.append(accounts) { row, fields throws(ExportRowRefusal) in
            row.kind = .steam
            row.issuer = "Steam"
            row.account = try fields.text("account_name")
            guard let text = try fields.secret("shared_secret") else { throw .noSecret }
            guard let secret = text.decodedBase64() else { throw .badSecret }
            row.secret = .bytes(secret)
        }
        return rows
    }
}
