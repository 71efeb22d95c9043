internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

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
        let fields = try JSONFields(try json(token))
        guard let secret else {
            try FreeOTPToken.fill(&row, fields)
            return
        }
        // The encrypted key is a JSON document in a text of the outer one.
        guard let wrapped = try JSONFields(try json(secret)).secret("key") else { throw .noSecret }
        let key: SecretBytes
        do {
            key = try FreeOTP2Container.unwrapped(try json(wrapped), with: masterKey)
        } catch let refusal as ExportRowRefusal {
            throw refusal
        } catch {
            // The password is right, so this token alone is damaged.
            throw .badSecret
        }
        try FreeOTPToken.fill(&row, fields, secret: key)
    }

    private static func json(_ text: SecretBytes) throws(ExportRowRefusal) -> JSONValue {
        do { return try readExportJSON(text, .freeOTP) } catch { throw .malformed }
    }

    /// Whether the key is a UUID, as that of each secret.
    private static func isIdentifier(_ key: String) -> Bool {
        key.utf8.count == 36 && key.utf8.count(where: { $0 == UInt8(ascii: "-") }) == 4
    }
}
