public import Verification

/// Why a database is not opened.
public enum PostgreSQLStoreError: Error, Hashable, Sendable {
    /// There is no connection. The words are libpq's own: hosts, ports and roles, never a password.
    case unreachable(String)
    /// The database does not keep its texts in UTF-8.
    case notUTF8
    /// A newer version of this program made the tables; this is the number of its steps.
    case newer(schema: Int)
    /// The database refused.
    case store(StoreFailure)
}
