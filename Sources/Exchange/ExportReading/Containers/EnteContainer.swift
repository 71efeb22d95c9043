internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

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
        do {
            return try message.withBytes { message throws(ExportCryptographyError) in
                try header.withBytes { header throws(ExportCryptographyError) in
                    try openSecretStream(message, key: key, header: header)
                }
            }
        } catch {
            throw decryption.exportError(error)
        }
    }
}
