internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// cotp's encrypted database.
///
/// An object with `version` 1 and three texts in Base64: `nonce` (24 bytes), `salt` (16 bytes) and
/// `cipher`, which is XChaCha20-Poly1305 without associated data. The key is Argon2id of the
/// password with 32 MiB, 4 passes and 4 lanes; the file does not state these costs.
enum CotpContainer {
    /// Returns the JSON of the database.
    static func open(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let file = ContainerFields(document, .cotp)
        guard try file.number("version") == 1 else { throw .newerVersion(.cotp) }
        let nonce = try file.base64("nonce", count: 24)
        let salt = try file.base64("salt")
        let sealed = try file.base64("cipher")
        let decryption = Decryption(.cotp)
        let key = try decryption.argon2(
            .id, password, salt: salt, kibibytes: 32 << 10, passes: 4, lanes: 4)
        do {
            return try sealed.withBytes { sealed throws(ExportCryptographyError) in
                try nonce.withBytes { nonce throws(ExportCryptographyError) in
                    try openXChaCha20Poly1305(sealed, key: key, nonce: nonce)
                }
            }
        } catch {
            throw decryption.exportError(error)
        }
    }
}
