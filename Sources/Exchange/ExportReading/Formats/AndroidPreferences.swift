internal import Exports
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// A preferences file of an Android app: names and texts; other values are left out.
struct AndroidPreferences {
    /// The texts in their order; the names may contain account names.
    let texts: [(name: String, value: SecretBytes)]

    init(_ map: XMLElement) {
        texts = map.children(named: "string").compactMap { element in
            element.attributeString("name").map { ($0, element.text) }
        }
    }

    /// The text whose name is `name`, or ends in it.
    subscript(ending name: String) -> SecretBytes? {
        texts.first { $0.name.hasSuffix(name) }?.value
    }

    func read(password: SecretBytes?) throws(ExportError) -> ExportRows {
        if let tokens = authyTokens {
            return try AuthyFormat.read(tokens, password: password)
        }
        if texts.contains(where: { $0.name.hasPrefix("com.blizzard.messenger.AUTHENTICATOR_") }) {
            return try BattleNetFormat.read(self)
        }
        if let list = self[ending: "STATIC_TOTP_CODES_LIST"] {
            return try TOTPAuthenticatorJSON.readItems(
                try readExportJSON(list, .totpAuthenticator))
        }
        if texts.contains(where: { $0.name == "masterKey" }) {
            return try FreeOTP2Format.read(
                members: texts.map { ($0.name, $0.value) }, password: password)
        }
        guard FreeOTPPreferences.isRecognised(self) else { throw .unknownFormat }
        return try FreeOTPPreferences.read(self)
    }

    private var authyTokens: SecretBytes? {
        texts.first { text in
            text.name.hasPrefix("com.authy.storage.tokens.")
                && (text.name.hasSuffix("authenticator.key") || text.name.hasSuffix("authy.key"))
        }?.value
    }
}

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
        // All tokens have the same password, but a damaged token must not hide the other tokens.
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
        /// The secret is missing or damaged.
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
            // The tokens of Authy itself.
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

enum BattleNetFormat {
    static func read(_ preferences: AndroidPreferences) throws(ExportError) -> ExportRows {
        guard let serial = preferences[ending: "AUTHENTICATOR_SERIAL"],
            let secret = preferences[ending: "AUTHENTICATOR_DEVICE_SECRET"]
        else { throw .damaged(.battleNet) }
        var rows = ExportRows(.battleNet)
        try rows.append { row throws(ExportRowRefusal) in
            row.issuer = "Battle.net"
            guard let account = try unmasked(serial).decodedText() else { throw .malformed }
            row.account = account
            row.digits = .value(8)
            row.secret = .hex(try unmasked(secret))
        }
        return rows
    }

    /// The app combines each value with this mask.
    private static let mask: [UInt8] = [
        0x39, 0x8e, 0x27, 0xfc, 0x50, 0x27, 0x6a, 0x65, 0x60, 0x65, 0xb0, 0xe5, 0x25, 0xf4, 0xc0,
        0x6c, 0x04, 0xc6, 0x10, 0x75, 0x28, 0x6b, 0x8e, 0x7a, 0xed, 0xa5, 0x9d, 0xa9, 0x81, 0x3b,
        0x5d, 0xd6, 0xc8, 0x0d, 0x2f, 0xb3, 0x80, 0x68, 0x77, 0x3f, 0xa5, 0x9b, 0xa4, 0x7c, 0x17,
        0xca, 0x6c, 0x64, 0x79, 0x01, 0x5c, 0x1d, 0x5b, 0x8b, 0x8f, 0x6b, 0x9a,
    ]

    /// The ASCII text that results if the mask is removed from the bytes of hexadecimal digits.
    private static func unmasked(_ digits: SecretBytes) throws(ExportRowRefusal) -> SecretBytes {
        guard let masked = digits.decodedHex() else { throw .badSecret }
        guard masked.count <= mask.count else { throw .secretTooLong }
        return masked.withBytes { masked in
            SecretBytes(capacity: masked.count) { output in
                for index in masked.indices { output.append(masked[index] ^ mask[index]) }
            }
        }
    }
}
