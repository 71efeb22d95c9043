internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

extension DatabaseFormat {
    /// The formats in the order in which they are recognised.
    static let all = [microsoft, authenticatorPlus, google, stratum]

    private static let microsoft = DatabaseFormat(
        .microsoftAuthenticator, table: "accounts", marks: ["oath_secret_key"],
        columns: [
            "name", "username", "oath_secret_key", "account_type", "encrypted_oath_secret_key",
        ]
    ) { row, record throws(ExportRowRefusal) in
        try row.fill([.issuer("name"), .account("username")], from: record)
        switch record["encrypted_oath_secret_key"] {
        case .null: break
        case .text(let secret) where secret.count == 0: break
        default: throw .encryptedByPhone
        }
        switch record.number("account_type") {
        case .value(0): try row.fill([.base32("oath_secret_key")], from: record)
        // The user's Microsoft account.
        case .value(1):
            try row.fill([.fixedDigits(8), .base64("oath_secret_key")], from: record)
        // A work account has no such secret.
        case .value(2): throw .noSecret
        default: throw .unknownType
        }
    }

    /// Authenticator Plus' database after its decryption.
    private static let authenticatorPlus = DatabaseFormat(
        .authenticatorPlus, table: "accounts", marks: ["uid", "category"],
        columns: [
            "email", "secret", "counter", "type", "issuer", "original_name", "category", "position",
        ], position: "position"
    ) { row, record throws(ExportRowRefusal) in
        try row.fill([.account("email")], from: record)
        if case .null = record["issuer"] {
            let account = row.account
            row.account = try record.text("original_name")
            row.splitAccount()
            if !account.isEmpty { row.account = account }
        } else {
            try row.fill([.issuer("issuer")], from: record)
        }
        try row.fill(
            [
                .tag("category"), .base32("secret"), .numberedType("type", [.totp, .hotp]),
                .counter("counter"),
            ], from: record)
        if row.tags == ["All Accounts"] { row.tags = [] }
        // Battle.net.
        if record.number("type") == .value(2) {
            try row.fill([.fixedType(.totp), .fixedDigits(8), .hex("secret")], from: record)
        }
    }

    private static let google = DatabaseFormat(
        .googleAuthenticator, table: "accounts", marks: ["email", "secret"],
        columns: ["email", "secret", "counter", "type", "issuer", "isencrypted"]
    ) { row, record throws(ExportRowRefusal) in
        try row.fill([.account("email"), .issuer("issuer")], from: record)
        if case .null = record["issuer"] { row.splitAccount() }
        // Only the phone's keystore has the key.
        if case .value(1...) = record.number("isencrypted") { throw .encryptedByPhone }
        try row.fill(
            [.base32("secret"), .numberedType("type", [.totp, .hotp]), .counter("counter")],
            from: record)
        // Google Authenticator increments the counter before it computes a code.
        if row.kind == .hotp { row.warnings = [.counterOfLastCode] }
    }

    /// Stratum's database, which has the fields of its JSON.
    private static let stratum = DatabaseFormat(
        .stratum, table: "authenticator", marks: ["username"]
    ) { database throws(ExportError) in
        let names = [
            "Type", "Issuer", "Username", "Secret", "Pin", "Algorithm", "Digits", "Period",
            "Counter",
        ]
        var lists = [("Authenticators", "authenticator", names)]
        if database.hasTable("category") && database.hasTable("authenticatorcategory") {
            lists += [
                ("Categories", "category", ["Id", "Name"]),
                (
                    "AuthenticatorCategories", "authenticatorcategory",
                    ["CategoryId", "AuthenticatorSecret"]
                ),
            ]
        }
        var document: [(String, JSONValue)] = []
        for (name, table, members) in lists {
            document.append((name, try database.objects(of: table, members)))
        }
        return try StratumFormat.read(.object(document))
    }
}
