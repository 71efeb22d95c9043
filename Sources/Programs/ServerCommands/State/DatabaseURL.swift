import PostgreSQLStore
import WatchwordSystem

/// The location of the database.
enum DatabaseURL: Sendable {
    /// An SQLite file.
    case sqlite(path: String)
    /// A PostgreSQL database, which several machines can share.
    case postgreSQL(PostgreSQLAddress)

    /// Parses `sqlite:PATH` or a libpq URL.
    init?(_ text: String) {
        let scheme = "sqlite:"
        if text.hasPrefix(scheme), text.count > scheme.count {
            self = .sqlite(path: String(text.dropFirst(scheme.count)))
        } else if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://"),
            let address = PostgreSQLAddress(text)
        {
            self = .postgreSQL(address)
        } else {
            return nil
        }
    }

    /// The location in messages, without a password.
    var shown: String {
        switch self {
        case .sqlite(let path): path
        case .postgreSQL(let address): address.shown
        }
    }

    /// Whether the database exists; asks a PostgreSQL server, but does not open an SQLite file.
    func isKnown() throws(PostgreSQLStoreError) -> Bool {
        switch self {
        case .sqlite(let path): FileStamp(of: path) != nil
        case .postgreSQL(let address): try PostgreSQLVerificationStore.exists(address)
        }
    }
}
