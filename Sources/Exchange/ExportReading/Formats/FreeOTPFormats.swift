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
        try FreeOTPToken.fill(&row, try JSONFields(readRowJSON(text)))
    }
}

/// The JSON that FreeOTP+ exports.
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

/// FreeOTP 2's backup: each secret is encrypted with a master key, and the master
/// key with a key derived from the password.
enum FreeOTP2Format {
    /// Reads a serialised map.
    static func read(
        _ file: SecretBytes, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        try read(members: try JavaHashMap(file).members, password: password)
    }

    /// Reads the members of a map or of a preferences file.
    static func read(
        members: [(key: String, value: SecretBytes)], password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard let wrapped = members.first(where: { $0.key == "masterKey" })?.value else {
            throw .damaged(.freeOTP)
        }
        guard let password else { throw .passwordNeeded(.freeOTP) }
        let masterKey = try FreeOTP2Container.masterKey(
            try readExportJSON(wrapped, .freeOTP), password: password)
        let values = Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
        let suffix = "-token"
        var rows = ExportRows(.freeOTP)
        for (key, value) in members {
            if let token = values[key + suffix] {
                try rows.append { row throws(ExportRowRefusal) in
                    try fill(&row, token: token, value, masterKey)
                }
            } else if key.hasSuffix(suffix), values[String(key.dropLast(suffix.count))] == nil {
                try rows.append { row throws(ExportRowRefusal) in
                    try fill(&row, token: value, nil, masterKey)
                }
            } else if isIdentifier(key) {
                // A secret without a token has no name, but it is not ignored.
                var row = ExportRow()
                row.refusal = .malformed
                try rows.append(row)
            }
        }
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, token: SecretBytes, _ secret: SecretBytes?, _ masterKey: SecretBytes
    ) throws(ExportRowRefusal) {
        let fields = try JSONFields(readRowJSON(token))
        guard let secret else {
            try FreeOTPToken.fill(&row, fields)
            return
        }
        // The encrypted key is a JSON document in a text of the outer one.
        let outer = try JSONFields(readRowJSON(secret))
        guard let wrapped = try outer.secret("key") else { throw .noSecret }
        let document = try readRowJSON(wrapped)
        // The password is right, so this token alone is damaged.
        let key = try refusing(as: .badSecret) {
            try FreeOTP2Container.unwrapped(document, with: masterKey)
        }
        try FreeOTPToken.fill(&row, fields, secret: key)
    }

    /// Whether the key is a UUID, like the key of each secret.
    private static func isIdentifier(_ key: String) -> Bool {
        key.utf8.count == 36 && key.utf8.count(where: { $0 == UInt8(ascii: "-") }) == 4
    }
}

/// The encrypted keys of FreeOTP 2.
enum FreeOTP2Container {
    /// Decrypts the master key.
    static func masterKey(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let fields = ContainerFields(document, .freeOTP)
        let algorithm: HashAlgorithm
        switch try fields.text("mAlgorithm").decodedText() {
        case "PBKDF2withHmacSHA1": algorithm = .sha1
        case "PBKDF2withHmacSHA512": algorithm = .sha512
        default: throw .unreadable(.freeOTP, .unsupportedAlgorithm)
        }
        let salt = try bytes(document["mSalt"])
        guard salt.count == 32 else { throw .damaged(.freeOTP) }
        let wrapped = try WrappedKey(document["mEncryptedKey"])
        let key = try Decryption(.freeOTP).pbkdf2(
            algorithm, password, salt: salt, iterations: try fields.number("mIterations"),
            count: salt.count)
        let masterKey = try wrapped.open(key)
        guard masterKey.count == 32 else { throw .damaged(.freeOTP) }
        return masterKey
    }

    /// Decrypts a token's secret.
    static func unwrapped(
        _ document: JSONValue, with masterKey: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        try WrappedKey(document).open(masterKey)
    }

    private struct WrappedKey {
        private let ciphertext: SecretBytes
        private let nonce: SecretBytes
        private let associatedData: SecretBytes

        init(_ document: JSONValue?) throws(ExportError) {
            let fields = ContainerFields(document, .freeOTP)
            guard try fields.text("mCipher").decodedText() == "AES/GCM/NoPadding" else {
                throw .unreadable(.freeOTP, .unsupportedAlgorithm)
            }
            ciphertext = try FreeOTP2Container.bytes(document?["mCipherText"])
            nonce = try Self.nonce(try FreeOTP2Container.bytes(document?["mParameters"]))
            associatedData = try fields.text("mToken")
        }

        func open(_ key: SecretBytes) throws(ExportError) -> SecretBytes {
            try Decryption(.freeOTP).openGCM(
                ciphertext, key: key, nonce: nonce,
                associatedData: associatedData.withBytes { [UInt8](copying: $0) })
        }

        /// The octet string in `SEQUENCE { OCTET STRING nonce, INTEGER 16 }`, or alone.
        private static func nonce(_ parameters: SecretBytes) throws(ExportError) -> SecretBytes {
            var parts = BinaryParts(parameters, .freeOTP)
            if parameters.count == 19 {
                guard try parts.take(2) == SecretBytes([0x30, 17]) else {
                    throw .damaged(.freeOTP)
                }
            }
            guard try parts.take(2) == SecretBytes([0x04, 12]) else { throw .damaged(.freeOTP) }
            let nonce = try parts.take(12)
            let rest = try parts.rest()
            guard rest.count == 0 || rest == SecretBytes([0x02, 1, 16]) else {
                throw .damaged(.freeOTP)
            }
            return nonce
        }
    }

    /// A JSON list of signed bytes.
    private static func bytes(_ list: JSONValue?) throws(ExportError) -> SecretBytes {
        guard let bytes = list?.elements?.bytes else { throw .damaged(.freeOTP) }
        return bytes
    }
}

/// Reads the JSON of one row; if a text cannot be read, only the row is refused, not the file.
private func readRowJSON(_ text: SecretBytes) throws(ExportRowRefusal) -> JSONValue {
    try refusing(as: .malformed) { try readExportJSON(text, .freeOTP) }
}
