public import Verification

/// Why a database is not opened.
public enum PostgreSQLStoreError: Error, Hashable, Sendable {
    /// There is no connection. The words are libpq's own: hosts, ports and roles, never a password.
    case unreachable(String)
    /// The database does not keep its texts in UTF-8.
    case notUTF8
    /// A newer version of this program made the tables; this is the number of its steps.
    case newer(schema: Int)
    /// An earlier state was put in its place, or a standby took over that lacked some of it: events
    /// are missing that were acknowledged.
    case putBack
    /// The clock is behind the newest event, which is of this time.
    case clockBehind(UnixTime)
    /// An end that was kept is not authentic.
    case forgedEnd
    /// The tables are not there.
    case empty
    /// The database refused.
    case store(StoreFailure)
}

extension PostgreSQLStoreError {
    init(_ failure: PostgreSQLFailure) {
        self = failure == .behind ? .putBack : .store(StoreFailure(failure))
    }
}
