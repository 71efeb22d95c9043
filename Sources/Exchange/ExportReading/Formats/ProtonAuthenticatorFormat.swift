internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// Proton Authenticator's JSON, plain or encrypted.
enum ProtonAuthenticatorFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard document["entries"] == nil else { return try rows(document) }
        guard let password else { throw .passwordNeeded(.protonAuthenticator) }
        let plain = try ProtonAuthenticatorContainer.open(document, password: password)
        return try rows(try readExportJSON(plain, .protonAuthenticator))
    }

    private static func rows(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let version = document["version"]?.wholeNumber,
            let entries = document["entries"]?.elements
        else { throw .damaged(.protonAuthenticator) }
        guard version <= 1 else { throw .newerVersion(.protonAuthenticator) }
        var rows = ExportRows(.protonAuthenticator)
        try rows.append(entries) { row, fields throws(ExportRowRefusal) in
            row.note = try fields.text("note")
            guard let content = try fields.fields("content") else { throw .malformed }
            // The name as the user edited it.
            row.account = try content.text("name")
            row.prefersOwnNames = true
            guard let uri = try content.secret("uri") else { throw .noSecret }
            row.secret = .field(uri)
        }
        return rows
    }
}
