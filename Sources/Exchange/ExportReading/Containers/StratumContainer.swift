internal import WatchwordCryptography
internal import Exports

/// Stratum's encrypted backup, and that of its predecessor Authenticator Pro.
enum StratumContainer {
    private static let current = SecretBytes(Array("AUTHENTICATORPRO".utf8))
    private static let legacy = SecretBytes(Array("AuthenticatorPro".utf8))

    /// Returns the JSON.
    static func open(
        _ file: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let decryption = Decryption(.stratum)
        var parts = BinaryParts(file, .stratum)
        let start = try parts.take(current.count)
        if start == current {
            let salt = try parts.take(16)
            let nonce = try parts.take(12)
            let sealed = try parts.rest()
            guard sealed.count >= 16 else { throw .damaged(.stratum) }
            let key = try decryption.argon2(
                .id, password, salt: salt, kibibytes: 64 << 10, passes: 3, lanes: 4)
            return try decryption.openGCM(sealed, key: key, nonce: nonce)
        }
        guard start == legacy else { throw .damaged(.stratum) }
        let salt = try parts.take(20)
        let vector = try parts.take(16)
        let ciphertext = try parts.rest()
        let key = try decryption.pbkdf2(.sha1, password, salt: salt, iterations: 64_000)
        return try decryption.checkedJSON(
            try decryption.openCBC(ciphertext, key: key, vector: vector))
    }
}
