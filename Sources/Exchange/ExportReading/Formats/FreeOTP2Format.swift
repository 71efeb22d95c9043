internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

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
        let fields = try JSONFields(try readRowJSON(token, .freeOTP))
        guard let secret else {
            try FreeOTPToken.fill(&row, fields)
            return
        }
        // The encrypted key is a JSON document in a text of the outer one.
        let outer = try JSONFields(try readRowJSON(secret, .freeOTP))
        guard let wrapped = try outer.secret("key") else { throw .noSecret }
        let document = try readRowJSON(wrapped, .freeOTP)
        // The password is right, so this token alone is damaged.
        let key = try refusing(as: .badSecret) {
            try FreeOTP2Container.unwrapped(document, with: masterKey)
        }
        try FreeOTPToken.fill(&row, fields, secret: key)
    }

    /// Whether the key is a UUID, as that of each secret.
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
        guard let elements = list?.elements else { throw .damaged(.freeOTP) }
        return try SecretBytes(capacity: elements.count) { output throws(ExportError) in
            for element in elements {
                guard case .number(let number) = element, (-128...255).contains(number) else {
                    throw .damaged(.freeOTP)
                }
                output.append(UInt8(truncatingIfNeeded: number))
            }
        }
    }
}
