internal import WatchwordCryptography
internal import Exports
internal import OneTimePassword

/// Exports that are SQLite databases, recognised by their tables.
struct DatabaseReading {
    private let database: SQLiteDatabase
    let format: ExportFormat

    static func read(_ file: SecretBytes) throws(ExportError) -> ExportRows {
        try DatabaseReading(file).rows()
    }

    private init(_ file: SecretBytes) throws(ExportError) {
        do { database = try SQLiteDatabase(file, limits: .current) } catch {
            // A damaged database is recognised by the definitions of its tables, which are text.
            let names: [(String, ExportFormat)] = [
                ("oath_secret_key", .microsoftAuthenticator), ("authenticatorcategory", .stratum),
                ("original_name", .googleAuthenticator),
            ]
            let found = file.withBytes { file in
                names.first { file.firstRange(of: $0.0) != nil }?.1
            }
            throw ExportError(error, found)
        }
        guard let format = Self.format(of: database) else { throw .unknownFormat }
        self.format = format
    }

    private static func format(of database: SQLiteDatabase) -> ExportFormat? {
        if let accounts = database.table(named: "accounts") {
            if accounts.has("oath_secret_key") { return .microsoftAuthenticator }
            if accounts.has("uid", "category") { return .authenticatorPlus }
            if accounts.has("email", "secret") { return .googleAuthenticator }
        }
        if let table = database.table(named: "authenticator"), table.has("username") {
            return .stratum
        }
        return nil
    }

    private func rows() throws(ExportError) -> ExportRows {
        switch format {
        case .microsoftAuthenticator: try MicrosoftDatabase.read(self)
        case .authenticatorPlus: try AuthenticatorPlusDatabase.read(self)
        case .stratum: try StratumDatabase.read(self)
        default: try GoogleDatabase.read(self)
        }
    }

    /// The rows of a table; columns that it does not have are null.
    func rows(of table: String, _ columns: String...) throws(ExportError) -> [SQLiteRow] {
        try rows(of: table, columns)
    }

    /// The rows of a table; columns that it does not have are null.
    func rows(of table: String, _ columns: [String]) throws(ExportError) -> [SQLiteRow] {
        do { return try database.rows(of: table, columns: columns) } catch {
            throw ExportError(error, format)
        }
    }

    /// Whether the schema lists a table with this name.
    func hasTable(_ name: String) -> Bool { database.table(named: name) != nil }
}

extension SQLiteLimits {
    fileprivate static var current: SQLiteLimits {
        let limits = ExportLimits.current
        return SQLiteLimits(
            rows: limits.rows(of: .googleAuthenticator), totalLength: limits.bytes)
    }
}

extension ExportError {
    /// - Parameter format: The format, if it is known.
    fileprivate init(_ error: SQLiteReadingError, _ format: ExportFormat?) {
        switch error {
        case .outOfMemory: self = .outOfMemory
        case .overLimit(.rows, let allowed):
            self = .overLimit(format, .rows, found: allowed + 1, allowed: allowed)
        case .overLimit(.totalLength, let allowed):
            self = .overLimit(format, .documentSize, found: allowed + 1, allowed: allowed)
        // No app has so many tables, and no intact file takes so long.
        case .overLimit, .notADatabase, .damaged, .noTable:
            self = format.map { .damaged($0) } ?? .unknownFormat
        }
    }
}
