internal import SQLStore
internal import Verification

// `@unchecked Sendable` is safe: one thread creates a session and hands it over completely; the
// pool and the writer ensure that only one thread uses it at a time.
/// A connection with the statements that were prepared on it.
final class SQLiteSession: @unchecked Sendable {
    let connection: SQLiteConnection
    private let dialect: SQLiteDialect
    private var prepared: [StoreStatement: SQLiteStatement] = [:]

    /// - Parameter step: the number of schema steps that were applied to the database. Only an
    ///   audit reads a database of an earlier release.
    init(_ connection: consuming SQLiteConnection, step: Int = SQLiteDialect.steps.count) {
        self.connection = connection
        dialect = SQLiteDialect(step: step)
    }

    /// The statement, prepared at its first use.
    subscript(_ statement: StoreStatement) -> SQLiteStatement {
        get throws(StoreFailure) {
            if let ready = prepared[statement] { return ready }
            let made = try connection.prepare(dialect.text(of: statement), isKept: true)
            prepared[statement] = made
            return made
        }
    }
}

extension SQLiteSession: StoreSnapshot {
    var step: Int { dialect.step }

    func all<Value>(
        _ statement: StoreStatement, _ arguments: [StoredValue],
        _ read: (inout RowReader) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> [Value] {
        try self[statement].bind(arguments).all(read)
    }
}
