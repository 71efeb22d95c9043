internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// cotp's database, and its export, which is the same without encryption.
enum CotpFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard document["cipher"] != nil else { return try rows(document) }
        guard let password else { throw .passwordNeeded(.cotp) }
        let database = try CotpContainer.open(document, password: password)
        return try rows(try readExportJSON(database, .cotp))
    }

    private static func rows(_ database: JSONValue) throws(ExportError) -> ExportRows {
        // The first version was only the list.
        if let version = database["version"] {
            guard let version = version.wholeNumber else { throw .damaged(.cotp) }
            guard version <= 2 else { throw .newerVersion(.cotp) }
        }
        guard let elements = database.elements ?? database["elements"]?.elements else {
            throw .damaged(.cotp)
        }
        var rows = ExportRows(.cotp)
        try rows.append(
            elements,
            fields: [
                .issuer("issuer"), .account("label"), .type("type"), .base32("secret"),
                .algorithm("algorithm"), .digits("digits"), .period("period"), .counter("counter"),
                // The app computes Mobile-OTP codes from the text itself.
                .pin("pin"), .motp(.asWritten),
            ])
        return rows
    }
}

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
        let key = try decryption.derive(
            Argon2(.id, kibibytes: 32 << 10, passes: 4, lanes: 4), password, salt: salt)
        return try decryption.open(
            sealed, key: key, nonce: nonce, with: openXChaCha20Poly1305)
    }
}
