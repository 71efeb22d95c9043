import POSIX
import PostgreSQLStore

/// Which database holds the rows.
enum DatabasePlace: Sendable {
    /// A file of SQLite's.
    case sqlite(path: String)
    /// A database that many machines share.
    case postgreSQL(PostgreSQLAddress)

    /// Understands `sqlite:PATH`, and the URLs of libpq.
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

    /// What it is called in sentences; there is no password in it.
    var shown: String {
        switch self {
        case .sqlite(let path): path
        case .postgreSQL(let address): address.shown
        }
    }

    /// Whether a database is known to be there, without a look into it.
    func isKnown() throws(PostgreSQLStoreError) -> Bool {
        switch self {
        case .sqlite(let path): FileStamp(of: path) != nil
        case .postgreSQL(let address): try PostgreSQLStore.isThere(address)
        }
    }
}
