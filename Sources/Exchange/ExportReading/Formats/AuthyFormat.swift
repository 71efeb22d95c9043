internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding
internal import OneTimePassword

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
        row.digits = token.number("digits")
        try setNames(&row, token)
        if let opened {
            row.secret = .base32(opened)
        } else if let secret = try token.secret("decryptedSecret") {
            row.secret = .base32(secret)
        } else if let seed = try token.secret("secretSeed") {
            // Authy's own tokens.
            row.secret = .hex(seed)
            row.digits = .value(7)
            row.period = .value(10)
        } else if token["encryptedSecret"] != nil {
            throw .badSecret
        }
    }

    private static func setNames(
        _ row: inout ExportRow, _ token: JSONFields
    ) throws(ExportRowRefusal) {
        row.issuer = try token.text("originalIssuer")
        let original = try token.text("originalName")
        guard original.isEmpty else {
            var parts = ExportRow()
            parts.account = original
            parts.splitAccount()
            row.account = parts.account
            if row.issuer.isEmpty { row.issuer = parts.issuer }
            return
        }
        let name = try token.text("name")
        row.account = name
        for separator in [" - ", ": "] {
            guard let (before, after) = name.divided(at: separator) else { continue }
            if row.issuer.isEmpty { row.issuer = before }
            row.account = after
            return
        }
    }
}

extension String {
    /// The parts before and after the first `separator`.
    fileprivate func divided(at separator: String) -> (String, String)? {
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(separator) {
                return (
                    String(self[..<rest.startIndex]), String(rest.dropFirst(separator.count))
                )
            }
            rest = rest.dropFirst()
        }
        return nil
    }
}
