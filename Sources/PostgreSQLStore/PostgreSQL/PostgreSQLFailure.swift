internal import CPostgreSQL

/// A command that the server refused, or a connection that is of no more use: never what it was about.
struct PostgreSQLFailure: Error, Hashable {
    /// How much is lost.
    enum Extent: Hashable {
        /// The command, and with it its transaction.
        case transaction
        /// The connection; what was under way may have been done or not.
        case connection
    }

    let extent: Extent
    /// The server's code, of five characters, or a word where libpq has none.
    let code: String
    /// The table whose constraint was not met.
    var table = ""
    /// What the server adds; it is read for our own codes alone.
    var detail = ""

    /// The store was closed.
    static let closed = PostgreSQLFailure(extent: .connection, code: "closed")
    /// Nobody answered in time.
    static let timedOut = PostgreSQLFailure(extent: .connection, code: "timeout")
    /// The connection broke, or can't be had.
    static let broken = PostgreSQLFailure(extent: .connection, code: "connection")
    /// What can't be sent, as when memory is short.
    static let notSent = PostgreSQLFailure(extent: .connection, code: "send")
    /// A row that is none of ours.
    static let strangeRow = PostgreSQLFailure(extent: .transaction, code: "row")
    /// A number that no column takes.
    static let outOfRange = PostgreSQLFailure(extent: .transaction, code: "22003")

    /// Whether the same, done again, may work: a serialisation error or a deadlock.
    var isPassing: Bool { code == "40001" || code == "40P01" }

    /// Whether it was a lock or a time-out that was waited for.
    var isBusy: Bool { ["55P03", "57014", "25P03"].contains(code) }

    /// Whether a value that must be unique was there already.
    var isUniqueness: Bool { code == "23505" }
}

extension PostgreSQLFailure {
    init(extent: Extent, code: String) {
        self.init(extent: extent, code: code, table: "", detail: "")
    }

    /// What the server says in a result.
    init(_ result: borrowing PostgreSQLResult) {
        // FATAL and PANIC end the connection, too.
        let severity = result.field(UInt8(ascii: "V"))
        let code = result.field(UInt8(ascii: "C")) ?? ""
        self.init(
            extent: severity == "FATAL" || severity == "PANIC" || code.isEmpty
                ? .connection : .transaction,
            code: code.isEmpty ? "connection" : code, table: result.field(UInt8(ascii: "t")) ?? "",
            detail: code.hasPrefix("WW") ? result.field(UInt8(ascii: "D")) ?? "" : "")
    }
}
