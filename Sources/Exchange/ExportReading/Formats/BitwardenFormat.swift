internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// JSON of Bitwarden and Bitwarden Authenticator, plain or password-protected.
enum BitwardenFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard document["encrypted"]?.truth == true else { return try rows(document) }
        guard document["passwordProtected"]?.truth == true else {
            throw .unreadable(.bitwarden, .accountRestricted)
        }
        return try rows(
            try ExportFormat.bitwarden.decrypted(document, password, BitwardenContainer.open))
    }

    private static func rows(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let items = document["items"]?.elements else { throw .damaged(.bitwarden) }
        // The authenticator has neither folders nor collections.
        let isVault = document["folders"] != nil || document["collections"] != nil
        let folders = GroupNames(document["folders"], id: "id", name: "name")
        let collections = GroupNames(document["collections"], id: "id", name: "name")
        var rows = ExportRows(isVault ? .bitwarden : .bitwardenAuthenticator)
        try rows.append(items.filter(hasField)) { row, members throws(ExportRowRefusal) in
            if members["archivedDate"] != nil { row.state = .archived }
            if members["deletedDate"] != nil { row.state = .deleted }
            row.isLabelHTML = !isVault
            try row.fill(
                [
                    .issuer("name"), .note("notes"), .favourite("favorite"),
                    .account("login.username"), .uri("login.totp"),
                ], from: members)
            row.tags = folders.names(of: [members["folderId"] ?? .null])
            row.tags += collections.names(of: try members.list("collectionIds"))
        }
        return rows
    }

    /// Whether the item is a login with a one-time password.
    private static func hasField(_ item: JSONValue) -> Bool {
        switch item["login"]?["totp"] {
        case nil, .null?: false
        case .secret(let text)?: text.count > 0
        default: true
        }
    }
}

/// The export that Bitwarden protects with a password.
enum BitwardenContainer {
    /// Returns the JSON of the plain export.
    static func open(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let file = ContainerFields(document, .bitwarden)
        let validation = try EncryptedText(try file.text("encKeyValidation_DO_NOT_EDIT"))
        let data = try EncryptedText(try file.text("data"))
        let keys = Keys(try baseKey(file, password))
        // The content of the validation field is random; its HMAC shows whether the password is
        // right.
        try validation.verify(keys)
        return try data.open(keys)
    }

    private static func baseKey(
        _ file: ContainerFields, _ password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let decryption = Decryption(.bitwarden)
        // The text itself is the salt, though it looks like Base64.
        let salt = try file.text("salt")
        let iterations = try file.number("kdfIterations")
        switch try file.number("kdfType") {
        case 0:
            return try decryption.pbkdf2(.sha256, password, salt: salt, iterations: iterations)
        case 1:
            let mebibytes = try file.number("kdfMemory")
            let (kibibytes, isTooLarge) = mebibytes.multipliedReportingOverflow(by: 1024)
            let argon2 = Argon2(
                .id, kibibytes: isTooLarge ? .max : kibibytes, passes: iterations,
                lanes: try file.number("kdfParallelism"))
            return try decryption.derive(
                argon2, password, salt: decryption.digest(.sha256, of: salt))
        default: throw decryption.unsupported
        }
    }

    private struct Keys {
        let encryption: SecretBytes
        let authentication: SecretBytes

        init(_ key: SecretBytes) {
            func derived(_ purpose: String) -> SecretBytes {
                hkdfExpandSHA256(key: key, info: Array(purpose.utf8).span, count: 32)
            }
            encryption = derived("enc")
            authentication = derived("mac")
        }
    }

    /// `2.` and three texts in Base64, separated by `|`: vector, ciphertext, HMAC-SHA-256.
    private struct EncryptedText {
        private let vector: SecretBytes
        private let ciphertext: SecretBytes
        private let code: SecretBytes

        init(_ text: SecretBytes) throws(ExportError) {
            let (isSupported, bars) = text.withBytes { text in
                (
                    text.count > 2 && text[0] == UInt8(ascii: "2") && text[1] == UInt8(ascii: "."),
                    text.indices.filter { text[$0] == UInt8(ascii: "|") }
                )
            }
            guard isSupported else { throw Decryption(.bitwarden).unsupported }
            guard bars.count == 2,
                let vector = text.part(2..<bars[0]).decodedBase64(), vector.count == 16,
                let ciphertext = text.part((bars[0] + 1)..<bars[1]).decodedBase64(),
                let code = text.part((bars[1] + 1)..<text.count).decodedBase64(), code.count == 32
            else { throw .damaged(.bitwarden) }
            self.vector = vector
            self.ciphertext = ciphertext
            self.code = code
        }

        func verify(_ keys: Keys) throws(ExportError) {
            try Decryption(.bitwarden).verify(
                code, .sha256, key: keys.authentication,
                of: SecretBytes(joining: [vector, ciphertext]))
        }

        func open(_ keys: Keys) throws(ExportError) -> SecretBytes {
            try verify(keys)
            return try Decryption(.bitwarden).openCBC(
                ciphertext, key: keys.encryption, vector: vector)
        }
    }
}
