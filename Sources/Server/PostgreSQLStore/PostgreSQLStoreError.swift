public import Verification

/// Why a database cannot be opened.
public enum PostgreSQLStoreError: Error, Hashable, Sendable {
    /// No connection could be opened.
    ///
    /// The message is libpq's: hosts, ports and roles, never a password.
    case unreachable(String)
    /// The database's encoding is not UTF-8.
    case notUTF8
    /// A newer version of this program created the tables; `schema` is the number of its schema
    /// steps.
    case newer(schema: Int)
    /// Somebody added something to the tables that acts on the server's statements, such as a
    /// trigger; `object` is its kind and its name.
    ///
    /// The name is as stored in the database; make it visible before you show it.
    case changedSchema(object: String)
    /// The database was rolled back to an earlier state, or a standby without the last commits took
    /// over: acknowledged events are missing.
    case rolledBack
    /// The clock is behind the newest event, whose time is the associated value.
    case clockBehind(UnixTime)
    /// A stored chain end is not authentic.
    case forgedCheckpoint
    /// The tables do not exist.
    case empty
    /// The database reported an error.
    case store(StoreFailure)
}

extension PostgreSQLStoreError {
    init(_ failure: PostgreSQLFailure) {
        self = failure == .behind ? .rolledBack : .store(StoreFailure(failure))
    }
}

/// Converts a connection's failure to an error of opening or recovering.
func opening<Result>(
    _ body: () throws(PostgreSQLFailure) -> Result
) throws(PostgreSQLStoreError) -> Result {
    do { return try body() } catch { throw PostgreSQLStoreError(error) }
}
