internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

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
