internal import WatchwordCryptography
internal import Exports

/// TOTP Authenticator's encrypted file.
enum TOTPAuthenticatorContainer {
    /// The password of a file whose user chose none.
    private static let fixedPassword = SecretBytes(Array("TotpAuthenticator".utf8))
    private static let vector = SecretBytes([UInt8](repeating: 0, count: 16))

    /// Returns the JSON.
    ///
    /// - Parameter password: The password, if the user gave one.
    static func open(
        _ file: SecretBytes, password: SecretBytes?
    ) throws(ExportError) -> SecretBytes {
        guard let ciphertext = file.decodedBase64Lines() else {
            throw .damaged(.totpAuthenticator)
        }
        do {
            return try open(ciphertext, fixedPassword)
        } catch .wrongPassword {
            guard let password else { throw .passwordNeeded(.totpAuthenticator) }
            return try open(ciphertext, password)
        }
    }

    private static func open(
        _ ciphertext: SecretBytes, _ password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let decryption = Decryption(.totpAuthenticator)
        let key = try decryption.digest(.sha256, of: password)
        return try decryption.checkedJSON(
            try decryption.openCBC(ciphertext, key: key, vector: vector))
    }
}
