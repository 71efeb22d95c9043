internal import Exports
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// Authy's tokens, from its preferences.
enum AuthyFormat {
    /// Reads the text of the preference.
    static func read(
        _ tokens: SecretBytes, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        try read(try readExportJSON(tokens, .authy), password: password)
    }

    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard let elements = document.elements else { throw .damaged(.authy) }
        var rows = ExportRows(.authy)
        var secrets: [SecretBytes?] = []
        var wrongCount = 0
        for element in elements {
            let opened = try secret(of: element, password: password)
            if case .wrongPassword = opened { wrongCount += 1 }
            secrets.append(opened.secret)
        }
        // All tokens have the same password, but a damaged token must not hide the others.
        if wrongCount > 0 && secrets.allSatisfy({ $0 == nil }) { throw .wrongPassword(.authy) }
        for (element, secret) in zip(elements, secrets) {
            try rows.append { row throws(ExportRowRefusal) in
                try fill(&row, try JSONFields(element), opened: secret)
            }
        }
        return rows
    }

    /// The result of decrypting a token's secret.
    private enum Opened {
        /// There is none, or it is damaged.
        case nothing
        case opened(SecretBytes)
        case wrongPassword

        var secret: SecretBytes? {
            if case .opened(let secret) = self { secret } else { nil }
        }
    }

    private static func secret(
        of token: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> Opened {
        guard let encrypted = token["encryptedSecret"]?.secretText,
            let salt = token["salt"]?.secretText,
            token["decryptedSecret"]?.secretText == nil
        else { return .nothing }
        guard let password else { throw .passwordNeeded(.authy) }
        do {
            return .opened(
                try AuthyContainer.open(
                    encryptedSecret: encrypted, salt: salt, password: password))
        } catch {
            switch error {
            case .wrongPassword: return .wrongPassword
            case .damaged: return .nothing
            default: throw error
            }
        }
    }

    private static func fill(
        _ row: inout ExportRow, _ token: JSONFields, opened: SecretBytes?
    ) throws(ExportRowRefusal) {
        try row.fill([.digits("digits")], from: token)
        try setNames(&row, token)
        if let opened {
            row.secret = .base32(opened)
        } else if token["decryptedSecret"] != nil {
            try row.fill([.base32("decryptedSecret")], from: token)
        } else if token["secretSeed"] != nil {
            // Authy's own tokens.
            try row.fill([.hex("secretSeed"), .fixedDigits(7)], from: token)
            row.period = .value(10)
        } else if token["encryptedSecret"] != nil {
            throw .badSecret
        }
    }

    private static func setNames(
        _ row: inout ExportRow, _ token: JSONFields
    ) throws(ExportRowRefusal) {
        let issuer = try token.text("originalIssuer")
        row.issuer = issuer
        let original = try token.text("originalName")
        row.account = original.isEmpty ? try token.text("name") : original
        let separators = original.isEmpty ? [" - ", ": "] : [":"]
        _ = separators.contains { row.splitAccount(at: $0) }
        if !issuer.isEmpty { row.issuer = issuer }
    }
}

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
