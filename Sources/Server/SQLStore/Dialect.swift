package import Verification

/// The differences between the two databases' SQL.
package protocol Dialect: Sendable {
    /// The SQL of each schema step.
    ///
    /// A database counts the steps that were applied to it. A released step never changes; a new
    /// version adds one.
    static var steps: [String] { get }

    /// The number of schema steps that were applied to the database.
    var step: Int { get }

    /// The placeholder of an argument; arguments are counted from 1.
    func argument(_ number: Int, _ type: ColumnType) -> String

    /// An expression for an empty byte string.
    var emptyBytes: String { get }

    /// Whether a credential is revoked, in the form that the indices by subject expect.
    func isRevoked(_ wanted: Bool) -> String

    /// Inserts rows with their authentication codes.
    func inserting<Row: ColumnRow>(_ rows: Row.Type) -> String

    /// Replaces rows whose stored version is one less than the new version.
    func updating<Row: ColumnRow>(_ rows: Row.Type) -> String

    /// Deletes rows by their primary keys.
    func spending<Row: ColumnRow>(_ rows: Row.Type) -> String

    /// A condition: a column has one of the values that are passed.
    func isPassed(_ column: String) -> String

    /// Deletes the rows that have expired by the time in the first argument, the oldest first; the
    /// second argument is the maximum number.
    func pruning<Row: ColumnRow>(_ rows: Row.Type) -> String

    /// The bytes of a column after the first `count`.
    func dropping(_ count: Int, of column: String) -> String

    /// A statement that differs between the databases, or that only one of them has; `nil` if this
    /// database has no such statement.
    func ownSQL(of statement: StoreStatement) -> String?
}

// The parts that both databases share.
extension Dialect {
    /// The text of a statement that the database has.
    package func text(of statement: StoreStatement) -> String {
        guard let text = statement.sql(in: self) else {
            preconditionFailure("\(Self.self) has no statement \(statement)")
        }
        return text
    }

    /// Reads rows; NULL stands for a column that a later step adds to the table.
    func select<Row: ColumnRow>(_ rows: Row.Type, _ rest: String) -> String {
        let columns = Row.columns.map { $0.step ?? 0 <= step ? $0.name : "NULL" }
        let list = (columns + ["authentication"]).joined(separator: ", ")
        return "SELECT \(list) FROM \(Row.table) \(rest)"
    }

    /// Reads the row with a primary key.
    func find<Row: ColumnRow>(_ rows: Row.Type) -> String {
        select(rows, "WHERE \(Row.keyName) = \(argument(1, .bytes))")
    }

    /// Reads one page of a table, starting at a primary key and including it.
    func page<Row: ColumnRow>(_ rows: Row.Type) -> String {
        let key = Row.keyName
        return select(
            rows,
            "WHERE \(key) >= \(argument(1, .bytes)) ORDER BY \(key) LIMIT \(argument(2, .integer))")
    }

    /// Deletes the sealed bytes of responses.
    ///
    /// The column contains the row's authentication code, followed by the code of the same row
    /// without its response; only the second code is kept.
    func endingAnswers(_ condition: String) -> String {
        let code = dropping(AuditKey.rowCodeCount, of: "authentication")
        return "UPDATE answers SET key_id = NULL, sealed_answer = NULL, authentication = \(code) "
            + "WHERE sealed_answer IS NOT NULL AND \(condition)"
    }
}

extension ColumnRow {
    /// The name of the primary key.
    static var keyName: String { columns[0].name }

    /// The columns that a statement writes: the row's columns, and its authentication code.
    static var writtenColumns: [(name: String, type: ColumnType)] {
        columns.map { ($0.name, $0.type) } + [("authentication", .bytes)]
    }

    static var columnNames: String { writtenColumns.map { $0.name }.joined(separator: ", ") }
}

/// The columns of a chain's record, in the order in which ``RowReader`` reads them.
let chainColumns =
    "node, start_sequence, start_digest, start_position, start_behind, pruned_before, pruned_at, "
    + "start_authentication, head_sequence, head_digest, head_authentication, head_position"
