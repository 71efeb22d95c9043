internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// Stratum's JSON, which its encrypted files contain.
enum StratumFormat {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let elements = document["Authenticators"]?.elements else { throw .damaged(.stratum) }
        let categories = Categories(document)
        var rows = ExportRows(.stratum)
        try rows.append(elements) { row, fields throws(ExportRowRefusal) in
            try fill(&row, fields)
            row.tags = categories.names(of: try fields.secret("Secret"))
        }
        rows.iconCount = document["CustomIcons"]?.elements?.count ?? 0
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ fields: JSONFields
    ) throws(ExportRowRefusal) {
        row.issuer = try fields.text("Issuer")
        row.account = try fields.text("Username")
        row.icon = StratumFormat.iconName(fields["Icon"]?.string ?? "")
        row.digits = fields.number("Digits")
        row.period = fields.number("Period")
        row.counter = fields.number("Counter")
        row.pin = try fields.secret("Pin")
        try set(
            &row, type: fields.number("Type"), algorithm: fields.number("Algorithm"),
            secret: try fields.secret("Secret"))
    }

    /// The name of an icon; empty if the text is `@` and the ID of an image.
    static func iconName(_ text: String) -> String { text.hasPrefix("@") ? "" : text }

    /// Sets the values that the JSON and the database write as numbers.
    static func set(
        _ row: inout ExportRow, type: ExportRow.Number, algorithm: ExportRow.Number,
        secret: SecretBytes?
    ) throws(ExportRowRefusal) {
        row.kind =
            switch type {
            case .value(1): .hotp
            case .value(2): .totp
            case .value(3): .motp
            case .value(4): .steam
            case .value(5): .yandex
            default: .unknown
            }
        switch algorithm {
        case .absent, .value(0): row.algorithm = nil
        case .value(1): row.algorithm = "SHA256"
        case .value(2): row.algorithm = "SHA512"
        default: throw .unknownAlgorithm
        }
        guard let secret else { return }
        row.secret = row.kind == .motp ? .text(secret) : .base32(secret)
    }

    /// The categories, which are assigned to entries by the entries' secrets.
    private struct Categories {
        /// By a hash that is keyed with a random key of this process.
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
