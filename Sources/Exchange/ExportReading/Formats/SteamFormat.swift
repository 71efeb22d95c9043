internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// A `maFile` or the JSON of Steam's app.
///
/// Everything but the shared secret and the account's name is as sensitive as the secret, and is
/// not kept.
enum SteamFormat {
    /// Reads a file that Steam Desktop Authenticator has encrypted.
    ///
    /// - Returns: `nil` if the manifest does not list the file as encrypted.
    static func read(
        encrypted file: SecretBytes, name: String, _ manifest: SecretBytes, password: SecretBytes?
    ) throws(ExportError) -> ExportRows? {
        let manifest = try readExportJSON(manifest.withoutByteOrderMark, .steam)
        guard let parameters = try SteamContainer.Parameters(in: manifest, of: name) else {
            return nil
        }
        guard let password else { throw .passwordNeeded(.steam) }
        return try read(
            try readExportJSON(
                try SteamContainer.open(file, parameters, password: password), .steam))
    }

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
