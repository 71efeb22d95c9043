internal import Exports
internal import WatchwordCryptography

/// andOTP's encrypted JSON, which has no fixed bytes.
enum AndOTPContainer {
    /// The iterations that tell the new form from the old one.
    private static let iterations: ClosedRange<UInt64> = 1_000...10_000_000

    /// Returns the JSON.
    static func open(
        _ file: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        do {
            if let json = try openNew(file, password) { return json }
        } catch .wrongPassword {
            // The first bytes of the old form are random and may look like a number of iterations.
        }
        var parts = BinaryParts(file, .andOTP)
        let nonce = try parts.take(12)
        let sealed = try parts.rest()
        let decryption = Decryption(.andOTP)
        let key = decryption.digest(.sha256, of: password)
        return try decryption.openGCM(sealed, key: key, nonce: nonce)
    }

    /// Returns `nil` if the file does not begin with a number of iterations.
    private static func openNew(
        _ file: SecretBytes, _ password: SecretBytes
    ) throws(ExportError) -> SecretBytes? {
        var parts = BinaryParts(file, .andOTP)
        let iterations = try parts.number(width: 4)
        guard Self.iterations.contains(iterations), file.count >= 44 else { return nil }
        let salt = try parts.take(12)
        let nonce = try parts.take(12)
        let sealed = try parts.rest()
        let decryption = Decryption(.andOTP)
        let key = try decryption.pbkdf2(.sha1, password, salt: salt, iterations: iterations)
        return try decryption.openGCM(sealed, key: key, nonce: nonce)
    }
}
