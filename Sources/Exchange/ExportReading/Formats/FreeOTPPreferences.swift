internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding
internal import OneTimePassword

/// FreeOTP's preferences: version 1's tokens.
enum FreeOTPPreferences {
    /// The preference with the names of the tokens in the user's order.
    private static let order = "tokenOrder"

    static func isRecognised(_ preferences: AndroidPreferences) -> Bool {
        preferences.texts.contains { text in
            text.name == order || isToken(text.value)
        }
    }

    static func read(_ preferences: AndroidPreferences) throws(ExportError) -> ExportRows {
        var places: [String: Int64] = [:]
        if let text = preferences.texts.first(where: { $0.name == order })?.value {
            let names = try readExportJSON(text, .freeOTP).elements ?? []
            for (index, name) in names.enumerated() {
                if let name = name.string { places[name] = Int64(index) }
            }
        }
        let tokens = preferences.texts.filter { $0.name != order }
        var rows = ExportRows(.freeOTP)
        for token in tokens {
            try rows.append { row throws(ExportRowRefusal) in try fill(&row, token.value) }
        }
        rows.sort(by: tokens.map { places[$0.name] ?? .max })
        return rows
    }

    /// Whether a text looks like a token: JSON with a secret, or a URI.
    private static func isToken(_ text: SecretBytes) -> Bool {
        text.withBytes { text in
            text.hasPrefixIgnoringCase("otpauth://")
                || text.count > 0 && text[0] == UInt8(ascii: "{")
                    && text.firstRange(of: "\"secret\"") != nil
                    && text.firstRange(of: "\"algo\"") != nil
        }
    }

    private static func fill(
        _ row: inout ExportRow, _ text: SecretBytes
    ) throws(ExportRowRefusal) {
        // Very old files have URIs.
        if text.withBytes({ $0.hasPrefixIgnoringCase("otpauth://") }) {
            row.secret = .field(text)
            return
        }
        let token: JSONValue
        do { token = try readExportJSON(text, .freeOTP) } catch { throw .malformed }
        try FreeOTPToken.fill(&row, try JSONFields(token))
    }
}
