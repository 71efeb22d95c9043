internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// Stratum's JSON, which its encrypted files contain.
enum StratumFormat {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let elements = document["Authenticators"]?.elements else { throw .damaged(.stratum) }
        let categories = Categories(document)
        var rows = ExportRows(.stratum)
        try rows.append(elements) { row, members throws(ExportRowRefusal) in
            try row.fill(
                [
                    .issuer("Issuer"), .account("Username"), .icon("Icon"), .digits("Digits"),
                    .period("Period"), .counter("Counter"), .pin("Pin"), .base32("Secret"),
                    .numberedType("Type", [.unknown, .hotp, .totp, .motp, .steam, .yandex]),
                    .numberedAlgorithm("Algorithm", ["SHA1", "SHA256", "SHA512"]),
                    .motp(.asWritten),
                ], from: members)
            // An image, not a name.
            if row.icon.hasPrefix("@") { row.icon = "" }
            row.tags = categories.names(of: try members.secret("Secret"))
        }
        rows.iconCount = document["CustomIcons"]?.elements?.count ?? 0
        return rows
    }

    /// The categories, which are assigned to entries by the entries' secrets.
    private struct Categories {
        /// The key is a hash of the secret under a random key of this process.
        private var bindings: [Int: [(secret: SecretBytes, category: JSONValue)]] = [:]
        private let names: GroupNames

        init(_ document: JSONValue) {
            names = GroupNames(document["Categories"], id: "Id", name: "Name")
            for binding in document["AuthenticatorCategories"]?.elements ?? [] {
                guard let secret = binding["AuthenticatorSecret"]?.secretText,
                    let category = binding["CategoryId"]
                else { continue }
                bindings[Self.hash(of: secret), default: []].append((secret, category))
            }
        }

        func names(of secret: SecretBytes?) -> [String] {
            guard let secret else { return [] }
            let same = bindings[Self.hash(of: secret), default: []].filter { $0.secret == secret }
            return names.names(of: same.map(\.category))
        }

        private static func hash(of secret: SecretBytes) -> Int {
            var hasher = Hasher()
            secret.withBytes { bytes in
                for index in bytes.indices { hasher.combine(bytes[index]) }
            }
            return hasher.finalize()
        }
    }
}

/// Stratum's encrypted backup, and that of its predecessor Authenticator Pro.
enum StratumContainer {
    private static let current = SecretBytes(Array("AUTHENTICATORPRO".utf8))
    private static let legacy = SecretBytes(Array("AuthenticatorPro".utf8))

    /// Returns the decrypted JSON.
    static func open(
        _ file: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let decryption = Decryption(.stratum)
        var parts = BinaryParts(file, .stratum)
        let start = try parts.take(current.count)
        if start == current {
            let salt = try parts.take(16)
            let nonce = try parts.take(12)
            let sealed = try parts.rest()
            guard sealed.count >= 16 else { throw .damaged(.stratum) }
            let key = try decryption.derive(
                Argon2(.id, kibibytes: 64 << 10, passes: 3, lanes: 4), password, salt: salt)
            return try decryption.openGCM(sealed, key: key, nonce: nonce)
        }
        guard start == legacy else { throw .damaged(.stratum) }
        let salt = try parts.take(20)
        let vector = try parts.take(16)
        let ciphertext = try parts.rest()
        let key = try decryption.pbkdf2(.sha1, password, salt: salt, iterations: 64_000)
        return try decryption.checkedJSON(
            try decryption.openCBC(ciphertext, key: key, vector: vector))
    }
}
