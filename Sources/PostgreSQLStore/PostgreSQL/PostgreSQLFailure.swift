internal import CPostgreSQL

/// A command that the server refused, or a connection that is lost; it contains none of the
/// command's data.
struct PostgreSQLFailure: Error, Hashable {
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
    /// The server's detail message; read only for this program's own error codes.
    var detail = ""

    static let closed = PostgreSQLFailure(extent: .connection, code: "closed")
    /// The server did not answer in time.
    static let timedOut = PostgreSQLFailure(extent: .connection, code: "timeout")
    /// The connection broke or could not be opened.
    static let broken = PostgreSQLFailure(extent: .connection, code: "connection")
    /// The command could not be sent, for example because memory ran out.
    static let notSent = PostgreSQLFailure(extent: .connection, code: "send")
    /// A row that this program cannot have written.
    static let invalidRow = PostgreSQLFailure(extent: .transaction, code: "row")
    /// A number that does not fit its column.
    static let outOfRange = PostgreSQLFailure(extent: .transaction, code: "22003")

    /// Whether a retry may succeed: a serialisation failure or a deadlock.
    var isPassing: Bool { code == "40001" || code == "40P01" }

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
