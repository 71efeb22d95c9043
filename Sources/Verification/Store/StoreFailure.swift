/// A store that could not do its work: which kind of trouble, never what it worked on.
///
/// Whether a commit that failed was done may be unknown, as when a connection breaks while waiting
/// for the answer. Nothing may be accepted then.
public struct StoreFailure: Error, Hashable, Sendable {
    /// The kinds of trouble, as an operator tells them apart.
    public enum Trouble: String, CaseIterable, Hashable, Sendable {
        /// No connection, or it broke.
        case unavailable
        /// Locked or overloaded for longer than was waited.
        case busy
        /// No room is left.
        case full
        /// It can't be written.
        case readOnly
        /// What is stored can't be read as it was written.
        case damaged
        /// A newer version of the program made it.
        case newer
    }

    /// The kind of trouble.
    public let trouble: Trouble
    /// The database's own code, such as `SQLITE_BUSY` or an SQLSTATE; empty when it gave none.
    public let code: String

    /// Names the trouble.
    public init(_ trouble: Trouble, code: String = "") {
        self.trouble = trouble
        self.code = code
    }
}
