internal import Exports
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// A format of exports that are SQLite databases: how it is recognised, and how it is read.
struct DatabaseFormat: Sendable {
    /// The features that distinguish an app's databases from others.
    struct Marks {
        /// The table that the database must have.
        let table: String
        /// Columns that the table must have.
        let columns: [String]
    }

    let format: ExportFormat
    private let marks: Marks
    private let read: @Sendable (DatabaseReading) throws(ExportError) -> ExportRows

    init(
        _ format: ExportFormat, _ marks: Marks,
        read: @escaping @Sendable (DatabaseReading) throws(ExportError) -> ExportRows
    ) {
        self.format = format
        self.marks = marks
        self.read = read
    }

    /// A simple format: one table.
    ///
    /// - Parameters:
    ///   - columns: The columns to read; columns that the table does not have are null.
    ///   - position: The column that states the order of the rows.
    init(
        _ format: ExportFormat, _ marks: Marks, columns: [String], position: String? = nil,
        fill: @escaping @Sendable (inout ExportRow, SQLiteRow) throws(ExportRowRefusal) -> Void
    ) {
        self.init(format, marks) { database throws(ExportError) in
            var rows = ExportRows(format)
            let records = try database.rows(of: marks.table, columns)
            for record in records {
                try rows.append { row throws(ExportRowRefusal) in try fill(&row, record) }
            }
            guard let position else { return rows }
            rows.sort(
                by: records.map { record in
                    guard case .value(let place) = record.number(position) else { return .max }
                    return place
                })
            return rows
        }
    }

    static func read(_ file: SecretBytes) throws(ExportError) -> ExportRows {
        // A damaged database is recognised by the definitions of its tables, which are text.
        let database = try reading(
            file.firstFormat(of: [
                ("oath_secret_key", .microsoftAuthenticator),
                ("authenticatorcategory", .stratum), ("original_name", .googleAuthenticator),
            ])
        ) { () throws(ContainerError) in try SQLiteDatabase(file, limits: .current) }
        for format in all {
            guard let table = database.table(named: format.marks.table),
                format.marks.columns.allSatisfy({ table.has($0) })
            else { continue }
            return try format.read(DatabaseReading(database: database, format: format.format))
        }
        throw .unknownFormat
    }
}

/// Reads the tables of one export.
struct DatabaseReading {
    fileprivate let database: SQLiteDatabase
    fileprivate let format: ExportFormat

    /// The rows of a table; columns that it does not have are null.
    func rows(of table: String, _ columns: [String]) throws(ExportError) -> [SQLiteRow] {
        try reading(format) { () throws(ContainerError) in
            try database.rows(of: table, columns: columns)
        }
    }

    /// The rows of a table as JSON objects whose members are named like the columns, but with
    /// capitals.
    func objects(of table: String, _ members: [String]) throws(ExportError) -> JSONValue {
        .list(try rows(of: table, members.map(\.asciiLowercased)).map { $0.object(members) })
    }

    /// Whether the schema lists a table with this name.
    func hasTable(_ name: String) -> Bool { database.table(named: name) != nil }
}

extension SecretBytes {
    /// The format of the first of these words, in any case, that occurs.
    func firstFormat(of words: [(word: String, format: ExportFormat)]) -> ExportFormat? {
        withBytes { bytes in words.first { bytes.firstRange(of: $0.word) != nil }?.format }
    }
}

extension SQLiteLimits {
    fileprivate static var current: SQLiteLimits {
        let limits = ExportLimits.current
        return SQLiteLimits(
            rows: limits.rows(of: .googleAuthenticator), totalLength: limits.bytes)
    }
}

extension DatabaseFormat {
    /// The formats in the order in which they are recognised.
    static let all = [microsoft, authenticatorPlus, google, stratum]

    private static let microsoft = DatabaseFormat(
        .microsoftAuthenticator, Marks(table: "accounts", columns: ["oath_secret_key"]),
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
        .authenticatorPlus, Marks(table: "accounts", columns: ["uid", "category"]),
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
        // This type stands for Battle.net.
        if record.number("type") == .value(2) {
            try row.fill([.fixedType(.totp), .fixedDigits(8), .hex("secret")], from: record)
        }
    }

    private static let google = DatabaseFormat(
        .googleAuthenticator, Marks(table: "accounts", columns: ["email", "secret"]),
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
        .stratum, Marks(table: "authenticator", columns: ["username"])
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
