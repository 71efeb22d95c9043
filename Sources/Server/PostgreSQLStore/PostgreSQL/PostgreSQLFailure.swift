internal import CPostgreSQL
internal import Verification
internal import WatchwordCryptography

/// A command that the server refused, or a connection that is lost; it contains none of the
/// command's data.
struct PostgreSQLFailure: RowFailure, Hashable {
    /// The scope of the failure.
    enum Extent: Hashable {
        /// The command and its transaction failed.
        case transaction
        /// The connection is lost; it is unknown whether pending commands took effect.
        case connection
    }

    let extent: Extent
    /// The server's five-character SQLSTATE, or a word if libpq has none.
    let code: String
    /// The table whose constraint was violated.
    var table = ""
    /// The server's detail message, read only for this program's own error codes; if no connection
    /// could be opened, libpq's message, which contains hosts, ports and roles, never a password.
    var detail = ""

    static let closed = PostgreSQLFailure(extent: .connection, code: "closed")
    /// The server did not answer in time.
    static let timedOut = PostgreSQLFailure(extent: .connection, code: "timeout")
    /// The connection broke or could not be opened.
    static let broken = PostgreSQLFailure(extent: .connection, code: "connection")
    /// No connection could be opened; the message is libpq's.
    static func refused(_ message: String) -> PostgreSQLFailure {
        PostgreSQLFailure(extent: .connection, code: "connection", table: "", detail: message)
    }
    /// The command could not be sent, for example because memory ran out.
    static let notSent = PostgreSQLFailure(extent: .connection, code: "send")
    /// A row that this program cannot have written.
    static let invalidRow = PostgreSQLFailure(extent: .transaction, code: "row")
    /// A row that is authentic, but that the verifier cannot have written.
    static let row = invalidRow
    /// A number that does not fit its column.
    static let outOfRange = PostgreSQLFailure(extent: .transaction, code: "22003")
    /// The chain's stored end is not the one that was written.
    static let chain = PostgreSQLFailure(extent: .connection, code: "chain")
    /// The database lacks events that it had acknowledged.
    static let behind = PostgreSQLFailure(extent: .connection, code: "behind")
    /// The tables belong to another version.
    static let newer = PostgreSQLFailure(extent: .connection, code: "newer")
    /// Commits are waiting for a standby that does not answer.
    static let standby = PostgreSQLFailure(extent: .connection, code: "standby")
    /// This machine's clock differs from the database's.
    static let clock = PostgreSQLFailure(extent: .connection, code: "clock-differs")

    /// Whether a retry may succeed: a serialisation failure or a deadlock.
    var isTransient: Bool { code == "40001" || code == "40P01" }

    /// Whether a lock was not granted in time or a statement timed out.
    var isBusy: Bool { ["55P03", "57014", "25P03"].contains(code) }

    /// Whether a uniqueness constraint was violated.
    var isUniqueness: Bool { code == "23505" }
}

extension PostgreSQLFailure {
    init(extent: Extent, code: String) {
        self.init(extent: extent, code: code, table: "", detail: "")
    }

    /// Reads the error from the server's result.
    init(_ result: borrowing PostgreSQLResult) {
        // FATAL and PANIC also end the connection.
        let severity = result.field(UInt8(ascii: "V"))
        let code = result.field(UInt8(ascii: "C")) ?? ""
        self.init(
            extent: severity == "FATAL" || severity == "PANIC" || code.isEmpty
                ? .connection : .transaction,
            code: code.isEmpty ? "connection" : code, table: result.field(UInt8(ascii: "t")) ?? "",
            detail: code.hasPrefix("WW") ? result.field(UInt8(ascii: "D")) ?? "" : "")
    }
}

extension StoreFailure {
    /// Classifies the server's failure for the operator (PostgreSQL manual, appendix A).
    init(_ failure: PostgreSQLFailure) {
        let kind: FailureKind =
            switch failure.code {
            case "row", "behind", "chain", "22003": .damaged
            case "newer": .newer
            case "53100": .full
            // A read-only transaction, or a role without the right to write.
            case "25006", "42501": .readOnly
            case _ where failure.isTransient || failure.isBusy: .busy
            // Violated constraints that no change's condition covers, values that do not fit their
            // column, missing tables, and unreadable pages.
            case let code where ["22", "23", "42", "XX"].contains { code.hasPrefix($0) }: .damaged
            default: .unavailable
            }
        self.init(kind, code: failure.code)
    }
}
