internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// The JSON that TOTP Authenticator's files contain.
enum TOTPAuthenticatorJSON {
    /// Reads an object whose only key is a JSON list as text.
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let members = document.members, members.count == 1 else {
            throw .damaged(.totpAuthenticator)
        }
        let text = SecretBytes(copying: Array(members[0].0.utf8).span)
        return try readItems(try readExportJSON(text, .totpAuthenticator))
    }

    static func readItems(_ items: JSONValue) throws(ExportError) -> ExportRows {
        guard let elements = items.elements else { throw .damaged(.totpAuthenticator) }
        var rows = ExportRows(.totpAuthenticator)
        try rows.append(elements) { row, members throws(ExportRowRefusal) in
            try row.fill([.issuer("issuer")], from: members)
            if row.issuer == "Unknown" { row.issuer = "" }
            try row.fill(
                [
                    .account("name"), .digitsText("digits"), .periodText("period"),
                    .base32("key"),
                ], from: members)
            switch try members.numberText("base") {
            case .value(16): try row.fill([.hex("key")], from: members)
            case .absent, .value(32): break
            case .value(64): try row.fill([.base64("key")], from: members)
            default: throw try members.has("key") ? .badSecret : .noSecret
            }
        }
        return rows
    }
}

/// TOTP Authenticator's encrypted file.
enum TOTPAuthenticatorContainer {
    /// The password of a file whose user chose none.
    private static let fixedPassword = SecretBytes(Array("TotpAuthenticator".utf8))
    private static let vector = SecretBytes([UInt8](repeating: 0, count: 16))

    /// Returns the decrypted JSON.
    ///
    /// - Parameter password: The password, if the user gave one.
    static func open(
        _ file: SecretBytes, password: SecretBytes?
    ) throws(ExportError) -> SecretBytes {
        guard let ciphertext = file.decodedBase64Lines() else {
            throw .damaged(.totpAuthenticator)
        }
        if let json = try ifKeyIsRight(open(ciphertext, fixedPassword)) { return json }
        guard let password else { throw .passwordNeeded(.totpAuthenticator) }
        return try open(ciphertext, password)
    }

    private static func open(
        _ ciphertext: SecretBytes, _ password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let decryption = Decryption(.totpAuthenticator)
        let key = decryption.digest(.sha256, of: password)
        return try decryption.checkedJSON(
            try decryption.openCBC(ciphertext, key: key, vector: vector))
    }
}
