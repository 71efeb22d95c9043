internal import Exports
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

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
            places = try readExportJSON(text, .freeOTP).places
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
        try FreeOTPToken.fill(&row, try JSONFields(try readRowJSON(text, .freeOTP)))
    }
}

/// FreeOTP+'s JSON.
enum FreeOTPPlusFormat {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let tokens = document["tokens"]?.elements else { throw .damaged(.freeOTPPlus) }
        let places = document["tokenOrder"]?.places ?? [:]
        var rows = ExportRows(.freeOTPPlus)
        try rows.append(tokens) { row, fields throws(ExportRowRefusal) in
            try FreeOTPToken.fill(&row, fields)
        }
        // The app ignores tokens that are missing from the order; they come last.
        rows.sort(by: tokens.map { places[name(of: $0)] ?? Int64.max })
        return rows
    }

    /// The name in `tokenOrder`.
    private static func name(of token: JSONValue) -> String {
        let issuer = token["issuerInt"]?.string ?? token["issuerExt"]?.string ?? ""
        return "\(issuer):\(token["label"]?.string ?? "")"
    }
}

/// A token of FreeOTP 1 and 2 and of FreeOTP+.
enum FreeOTPToken {
    /// Reads a token.
    ///
    /// - Parameter secret: The secret, if it is not in the token itself: FreeOTP 2.
    static func fill(
        _ row: inout ExportRow, _ members: JSONFields, secret: SecretBytes? = nil
    ) throws(ExportRowRefusal) {
        try row.fill(
            [
                .issuer("issuerAlt"), .issuer("issuerExt"), .issuer("issuerInt"),
                .account("labelAlt"), .account("label"), .algorithm("algo"), .digits("digits"),
                .period("period"), .counter("counter"), .optionalType("type"),
            ], from: members)
        // The app computes Steam codes if this issuer, which the label contained, is "Steam".
        if row.kind == .totp, try members.text("issuerExt") == "Steam" { row.kind = .steam }
        try row.fill([.bytes("secret")], from: members)
        if let secret { row.secret = .bytes(secret) }
    }
}

extension JSONValue {
    /// The position of each name in a list of names.
    fileprivate var places: [String: Int64] {
        var places: [String: Int64] = [:]
        for (index, name) in (elements ?? []).enumerated() {
            if let name = name.string { places[name] = Int64(index) }
        }
        return places
    }
}
