/// A failure of the store: its kind, but not the data it concerns.
///
/// A commit that is reported as failed may still have taken effect, for example if the connection
/// broke before the response. Nothing may be accepted in that case.
public struct StoreFailure: Error, Hashable, Sendable {
    /// The kinds of failure that matter to an operator.
    public enum FailureKind: String, CaseIterable, Hashable, Sendable {
        /// There is no connection, or it broke.
        case unavailable
        /// The database was locked or overloaded for longer than the timeout.
        case busy
        /// There is no space left.
        case full
        /// The database is not writable.
        case readOnly
        /// The stored data is damaged.
        case damaged
        /// A newer version of the program created it.
        case newer
    }

    /// The kind of failure.
    public let kind: FailureKind
    /// The database's own code, such as `SQLITE_BUSY` or an SQLSTATE; empty if there is none.
    public let code: String

    /// Creates a failure.
    public init(_ kind: FailureKind, code: String = "") {
        self.kind = kind
        self.code = code
    }
}
