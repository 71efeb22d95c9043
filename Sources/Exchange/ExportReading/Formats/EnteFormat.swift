internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// Ente's encrypted JSON, which contains a list of key URIs.
enum EnteFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard let password else { throw .passwordNeeded(.ente) }
        return try URIListFormat.read(
            try EnteContainer.open(document, password: password), format: .ente)
    }
}

/// Ente's encrypted export.
enum EnteContainer {
    /// Returns the list of key URIs.
    static func open(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let file = ContainerFields(document, .ente)
        guard try file.number("version") == 1 else { throw .newerVersion(.ente) }
        let costs = try file.fields("kdfParams")
        let salt = try costs.base64("salt", count: 16)
        let message = try file.base64("encryptedData")
        let header = try file.base64("encryptionNonce", count: 24)
        let decryption = Decryption(.ente)
        let key = try decryption.argon2(
            .id, password, salt: salt, kibibytes: try costs.number("memLimit") / 1024,
            passes: try costs.number("opsLimit"), lanes: 1)
        return try decryption.open(message, key: key, nonce: header, with: openSecretStream)
    }
}
