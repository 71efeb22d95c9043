// Sendable by hand: a session is made by one thread and handed on whole; the pool and the writer see
// to it that one thread at a time has it.
/// A connection together with the statements that were prepared on it.
final class SQLiteSession: @unchecked Sendable {
    let connection: SQLiteConnection
    private var prepared: [SQLiteStatement?]

    init(_ connection: consuming SQLiteConnection) {
        self.connection = connection
        prepared = Array(repeating: nil, count: StoreStatement.allCases.count)
    }

    /// The statement, prepared when it is asked for first.
    subscript(_ statement: StoreStatement) -> SQLiteStatement {
        get throws(SQLiteFailure) {
            if let ready = prepared[statement.rawValue] { return ready }
            let made = try connection.prepare(statement.sql, isKept: true)
            prepared[statement.rawValue] = made
            return made
        }
    }
}
