internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

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
        try rows.append(entries) { row, members throws(ExportRowRefusal) in
            // The name is the account as the user edited it.
            row.prefersOwnNames = true
            try row.fill(
                [
                    .note("note"), .object("content"), .account("content.name"),
                    .uri("content.uri"),
                ], from: members)
        }
        return rows
    }
}

/// Proton Authenticator's encrypted export.
enum ProtonAuthenticatorContainer {
    private static let associatedData = Array("proton.authenticator.export.v1".utf8)

    /// Returns the JSON of the plain export.
    static func open(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let file = ContainerFields(document, .protonAuthenticator)
        guard try file.number("version") == 1 else { throw .newerVersion(.protonAuthenticator) }
        let salt = try file.base64("salt", count: 16)
        var content = BinaryParts(try file.base64("content"), .protonAuthenticator)
        let nonce = try content.take(12)
        let sealed = try content.rest()
        guard sealed.count >= 16 else { throw .damaged(.protonAuthenticator) }
        let decryption = Decryption(.protonAuthenticator)
        let key = try decryption.argon2(
            .id, password, salt: salt, kibibytes: 19_456, passes: 2, lanes: 1)
        return try decryption.openGCM(
            sealed, key: key, nonce: nonce, associatedData: associatedData)
    }
}
