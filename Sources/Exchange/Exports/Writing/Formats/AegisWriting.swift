internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// Writes Aegis' JSON (its `docs/vault.md`): version 1 of the file, version 3 of the content.
enum AegisWriting {
    static func document(
        _ entries: [ExportedEntry], password: SecretBytes?
    ) throws(CryptographyFailure) -> SecretBytes {
        let content = content(entries)
        guard let password else {
            return file(header: [("slots", .null), ("params", .null)], content: content)
        }
        return try encrypted(content.rendered(), password: password)
    }

    private static func file(header: [(String, JSONValue)], content: JSONValue) -> SecretBytes {
        JSONValue.object([("version", .number(1)), ("header", .object(header)), ("db", content)])
            .renderedLine()
    }

    // MARK: - Encryption

    /// The length of a salt; the length and the cost are taken from Aegis' documentation.
    private static let saltCount = 32
    private static let cost = ScryptCost(checkedLogN: 15, blockSize: 8, parallelism: 1)

    private static func encrypted(
        _ content: SecretBytes, password: SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes {
        let masterKey = Randomness.secret(count: SealingKey.keyCount)
        let salt = Randomness.bytes(count: saltCount)
        let derived = try scrypt(
            passphrase: password, salt: salt.span, cost: cost, count: SealingKey.keyCount)
        let slotBox = GCMBox(sealing: masterKey, under: derived)
        let contentBox = GCMBox(sealing: content, under: masterKey)
        let slot: [(String, JSONValue)] = [
            ("type", .number(1)), ("uuid", .text(makeUniqueIdentifier())),
            ("key", .text(hexadecimal(slotBox.ciphertext))), ("key_params", slotBox.aegisJSON),
            ("n", .number(1 << Int64(cost.logN))), ("r", .number(Int64(cost.blockSize))),
            ("p", .number(Int64(cost.parallelism))), ("salt", .text(hexadecimal(salt))),
            // Old versions of the app derived the key from the password with trailing zeros.
            ("repaired", .flag(true)), ("is_backup", .flag(false)),
        ]
        let text = Base64.encode(contentBox.ciphertext.span)
        return file(
            header: [("slots", .list([.object(slot)])), ("params", contentBox.aegisJSON)],
            content: .secret(SecretBytes(copying: text.span)))
    }

    // MARK: - Content

    private static func content(_ entries: [ExportedEntry]) -> JSONValue {
        let groups = TagIdentifiers(entries.map(\.tags))
        var written: [JSONValue] = []
        for entry in entries { written.append(json(entry, groups)) }
        let groupList = groups.tags.map { tag in
            JSONValue.object([("uuid", .text(groups[tag])), ("name", .text(tag))])
        }
        return .object([
            ("version", .number(3)), ("entries", .list(written)), ("groups", .list(groupList)),
            ("icons_optimized", .flag(true)),
        ])
    }

    private static func json(_ entry: ExportedEntry, _ groups: TagIdentifiers) -> JSONValue {
        let (type, info) = facts(of: entry.content)
        return .object([
            ("type", .text(type)), ("uuid", .text(makeUniqueIdentifier())),
            ("name", .text(entry.account)), ("issuer", .text(entry.issuer)),
            ("note", .text(entry.note)), ("favorite", .flag(entry.isFavourite)), ("icon", .null),
            ("info", .object(info)),
            ("groups", .list(entry.tags.map { .text(groups[$0]) })),
        ])
    }

    private static func facts(
        of content: ExportedEntry.Content
    ) -> (type: String, info: [(String, JSONValue)]) {
        switch content {
        case .oneTimePassword(let credential):
            let type: String
            let factor: (String, JSONValue)
            switch credential.movingFactor {
            case .time(let step):
                type = credential.style == .steam ? "steam" : "totp"
                factor = ("period", .number(step.period))
            case .counter(let counter):
                type = "hotp"
                factor = ("counter", .counter(counter))
            }
            return (
                type,
                [
                    ("secret", .secret(Base32.encode(credential.key))),
                    ("algo", .text(credential.algorithm.rawValue)),
                    ("digits", .number(Int64(credential.style.length))), factor,
                ]
            )
        case .notComputed(let code): return facts(of: code)
        }
    }

    private static func facts(
        of code: UncomputedCode
    ) -> (type: String, info: [(String, JSONValue)]) {
        // The app refuses an entry without a PIN.
        let pin = JSONValue.secret(code.pin ?? SecretBytes(capacity: 0) { _ in })
        switch code.kind {
        case .yandex:
            return (
                "yandex",
                [
                    ("secret", .secret(Base32.encode(code.secret))), ("algo", .text("SHA256")),
                    ("digits", .number(8)), ("period", .number(30)), ("pin", pin),
                ]
            )
        case .motp:
            // The app computes codes from the hexadecimal digits, but stores the bytes that they
            // encode.
            return (
                "motp",
                [
                    ("secret", .secret(Base32.encode(code.bytesOfHexadecimal))),
                    ("algo", .text("MD5")), ("digits", .number(6)), ("period", .number(10)),
                    ("pin", pin),
                ]
            )
        }
    }
}

extension GCMBox {
    fileprivate var aegisJSON: JSONValue {
        .object([("nonce", .text(hexadecimal(nonce))), ("tag", .text(hexadecimal(tag)))])
    }
}

extension UncomputedCode {
    fileprivate var bytesOfHexadecimal: SecretBytes {
        do {
            return try secret.withBytes { text throws(OneTimePasswordError) in
                try Hexadecimal.decode(text)
            }
        } catch {
            preconditionFailure("an entry with another secret is left out")
        }
    }
}
