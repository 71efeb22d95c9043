internal import WatchwordCryptography
internal import Exports

/// gauth's encrypted file, as `openssl enc -aes-128-cbc -md sha256` writes it.
enum GauthContainer {
    /// Returns the lines.
    static func open(
        _ file: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        var parts = BinaryParts(file, .gauth)
        guard try parts.take(8) == SecretBytes(Array("Salted__".utf8)) else {
            throw .damaged(.gauth)
        }
        let salt = try parts.take(8)
        let ciphertext = try parts.rest()
        let decryption = Decryption(.gauth)
        let derived = try decryption.digest(.sha256, of: SecretBytes(joining: [password, salt]))
        let lines = try decryption.openCBC(
            ciphertext, key: derived.part(0..<16), vector: derived.part(16..<32))
        let text = try decryption.checkedText(lines)
        guard text.withBytes({ GauthFormat.isRecognised($0, isDecrypted: true) }) else {
            throw .wrongPassword(.gauth)
        }
        return text
    }
}
