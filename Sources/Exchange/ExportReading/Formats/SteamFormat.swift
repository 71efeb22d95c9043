internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// A `maFile` or the JSON of Steam's app.
///
/// Everything but the shared secret and the account's name is as sensitive as the secret, and is
/// not kept.
enum SteamFormat {
    /// Reads a file that Steam Desktop Authenticator has encrypted.
    ///
    /// - Returns: `nil` if the manifest does not list the file as encrypted.
    static func read(
        encrypted file: SecretBytes, name: String, _ manifest: SecretBytes, password: SecretBytes?
    ) throws(ExportError) -> ExportRows? {
        let manifest = try readExportJSON(manifest.withoutByteOrderMark, .steam)
        guard let parameters = try SteamContainer.Parameters(in: manifest, of: name) else {
            return nil
        }
        guard let password else { throw .passwordNeeded(.steam) }
        return try read(
            try readExportJSON(
                try SteamContainer.open(file, parameters, password: password), .steam))
    }

    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        var rows = ExportRows(.steam)
        let accounts = document["accounts"]?.members?.map(\.1) ?? [document]
        try rows.append(
            accounts,
            fields: [
                .fixedType(.steam), .fixedIssuer("Steam"), .account("account_name"),
                .base64("shared_secret"),
            ])
        return rows
    }
}

/// Steam Desktop Authenticator's encrypted file.
///
/// Its salt and vector are in another file, `manifest.json` in the same folder.
enum SteamContainer {
    /// What the manifest states about one file.
    struct Parameters {
        let salt: SecretBytes
        let vector: SecretBytes

        init(salt: SecretBytes, vector: SecretBytes) throws(ExportError) {
            guard salt.count == 8, vector.count == 16 else { throw .damaged(.steam) }
            self.salt = salt
            self.vector = vector
        }

        /// The entry of the file `name` in a manifest; `nil` if there is none.
        init?(in manifest: JSONValue, of name: String) throws(ExportError) {
            guard let entries = manifest["entries"]?.elements else { throw .damaged(.steam) }
            guard let entry = entries.first(where: { $0["filename"]?.string == name }) else {
                return nil
            }
            let fields = ContainerFields(entry, .steam)
            try self.init(
                salt: try fields.base64("encryption_salt"),
                vector: try fields.base64("encryption_iv"))
        }
    }

    /// Returns the JSON of the plain file.
    static func open(
        _ file: SecretBytes, _ parameters: Parameters, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        guard let ciphertext = file.decodedBase64Lines() else { throw .damaged(.steam) }
        let decryption = Decryption(.steam)
        let key = try decryption.pbkdf2(
            .sha1, password, salt: parameters.salt, iterations: 50_000)
        return try decryption.checkedJSON(
            try decryption.openCBC(ciphertext, key: key, vector: parameters.vector))
    }
}
