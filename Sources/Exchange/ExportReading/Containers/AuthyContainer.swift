internal import WatchwordCryptography
internal import Exports

/// The encrypted secret of one of Authy's tokens.
enum AuthyContainer {
    private static let vector = SecretBytes([UInt8](repeating: 0, count: 16))

    /// Returns the secret in Base32.
    ///
    /// - Parameters:
    ///   - encryptedSecret: The ciphertext in Base64.
    ///   - salt: The salt's text, which is not decoded.
    static func open(
        encryptedSecret: SecretBytes, salt: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        guard let ciphertext = encryptedSecret.decodedBase64Lines() else { throw .damaged(.authy) }
        let decryption = Decryption(.authy)
        let key = try decryption.pbkdf2(.sha1, password, salt: salt, iterations: 1_000)
        let secret = try decryption.openCBC(ciphertext, key: key, vector: vector)
        guard secret.withBytes({ $0.isBase32 }) else { throw .wrongPassword(.authy) }
        return secret
    }
}
