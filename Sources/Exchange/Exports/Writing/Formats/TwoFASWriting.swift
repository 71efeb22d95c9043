internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// Writes 2FAS' JSON, schema 4.
enum TwoFASWriting {
    /// - Parameter now: Unix seconds, stored as the time of the last change.
    static func document(
        _ entries: [ExportedEntry], password: SecretBytes?, now: Int64
    ) throws(CryptographyFailure) -> SecretBytes {
        // An entry can be in only one group.
        let groups = TagIdentifiers(entries.map { Array($0.tags.prefix(1)) })
        let services = JSONValue.list(
            entries.enumerated().map { json($1, position: $0, groups, now: now) })
        let groupList = groups.tags.map { tag in
            JSONValue.object([
                ("id", .text(groups[tag])), ("name", .text(tag)), ("isExpanded", .flag(true)),
            ])
        }
        var members: [(String, JSONValue)] = [
            ("services", password == nil ? services : .list([])), ("groups", .list(groupList)),
            ("updatedAt", .number(now * 1_000)), ("schemaVersion", .number(4)),
            ("appVersionCode", .number(5_000_000)), ("appVersionName", .text("5.0.0")),
            ("appOrigin", .text("android")),
        ]
        if let password {
            members += try encrypted(services.rendered(), password: password)
        }
        return JSONValue.object(members).renderedLine()
    }

    // MARK: - Encryption

    private static let saltCount = 256
    private static let iterations = 10_000
    /// The constant that the app encrypts to recognise a wrong password and an encrypted file.
    private static let reference =
        "tRViSsLKzd86Hprh4ceC2OP7xazn4rrt4xhfEUbOjxLX8Rc3mkISXE0lWbmnWfgg"
        + "ogbBJhtYgpK6fMl1D6mtsy92R3HkdGfwuXbzLebqVFJsR7IZ2w58t938iymwG482"
        + "4igYy1wi6n2WDpO1Q1P69zwJGs2F5a1qP4MyIiDSD7NCV2OvidXQCBnDlGfmz0f1"
        + "BQySRkkt4ryiJeCjD2o4QsveJ9uDBUn8ELyOrESv5R5DMDkD4iAF8TXU7KyoJujd"

    private static func encrypted(
        _ services: SecretBytes, password: SecretBytes
    ) throws(CryptographyFailure) -> [(String, JSONValue)] {
        let salt = Randomness.bytes(count: saltCount)
        let key = try pbkdf2(
            .sha256, password: password, salt: salt.span, iterations: iterations,
            count: SealingKey.keyCount)
        let known = SecretBytes(copying: Array(reference.utf8).span)
        return [
            ("servicesEncrypted", sealed(services, under: key, salt: salt)),
            ("reference", sealed(known, under: key, salt: salt)),
        ]
    }

    /// The ciphertext with its tag, the salt and the nonce in Base64, separated by colons.
    private static func sealed(
        _ plaintext: SecretBytes, under key: SecretBytes, salt: [UInt8]
    ) -> JSONValue {
        let box = GCMBox(sealing: plaintext, under: key)
        let parts = [box.ciphertext + box.tag, salt, Array(box.nonce)]
        let texts = parts.map { String(decoding: Base64.encode($0.span), as: UTF8.self) }
        return .text(texts.joined(separator: ":"))
    }

    // MARK: - Content

    /// The icon that the app shows for an unknown service.
    private static let iconCollection = "a5b3fb65-4ec5-43e6-8ec1-49e24ca9e7ad"

    private static func json(
        _ entry: ExportedEntry, position: Int, _ groups: TagIdentifiers, now: Int64
    ) -> JSONValue {
        guard case .oneTimePassword(let credential) = entry.content else {
            preconditionFailure("other entries are left out")
        }
        var period = JSONValue.null
        var counter = JSONValue.null
        let type: String
        switch credential.movingFactor {
        case .time(let step):
            type = credential.style == .steam ? "STEAM" : "TOTP"
            period = .number(step.period)
        case .counter(let value):
            type = "HOTP"
            counter = .counter(value)
        }
        let otp: [(String, JSONValue)] = [
            ("link", .null), ("label", .text(credential.account)),
            ("account", .text(credential.account)), ("issuer", .text(credential.issuer)),
            ("digits", .number(Int64(credential.style.length))), ("period", period),
            ("algorithm", .text(credential.algorithm.rawValue)), ("counter", counter),
            ("tokenType", .text(type)), ("source", .text("Manual")),
        ]
        let initials = String(credential.issuer.prefix(2)).uppercased()
        return .object([
            ("name", .text(credential.issuer)),
            ("secret", .secret(Base32.encode(credential.key))),
            ("updatedAt", .number(now * 1_000)), ("serviceTypeID", .null), ("otp", .object(otp)),
            ("order", .object([("position", .number(Int64(position)))])), ("badge", .null),
            (
                "icon",
                .object([
                    ("selected", .text("Label")), ("brand", .null),
                    (
                        "label",
                        .object([
                            ("text", .text(initials)), ("backgroundColor", .text("Default")),
                        ])
                    ),
                    ("iconCollection", .object([("id", .text(iconCollection))])),
                ])
            ),
            ("groupId", entry.tags.first.map { .text(groups[$0]) } ?? .null),
        ])
    }
}
