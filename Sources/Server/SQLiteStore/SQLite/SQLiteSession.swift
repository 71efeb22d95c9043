internal import SQLStore
internal import Verification

// `@unchecked Sendable` is safe: one thread creates a session and hands it over completely; the
// pool and the writer ensure that only one thread uses it at a time.
/// A connection with the statements that were prepared on it.
final class SQLiteSession: @unchecked Sendable {
    let connection: SQLiteConnection
    private var prepared: [StoreStatement: SQLiteStatement] = [:]

    init(_ connection: consuming SQLiteConnection) { self.connection = connection }

    /// The statement, prepared at its first use.
    subscript(_ statement: StoreStatement) -> SQLiteStatement {
        get throws(StoreFailure) {
            if let ready = prepared[statement] { return ready }
            let made = try connection.prepare(statement.sql, isKept: true)
            prepared[statement] = made
            return made
        }
    }
}

extension StoreStatement {
    /// The statement's text in SQLite.
    var sql: String {
        guard let sql = sql(in: SQLiteDialect()) else {
            preconditionFailure("SQLite has no statement \(self)")
        }
        return sql
    }
}

extension SQLiteSession: StoreSnapshot {
    var hasChallenges: Bool {
        get throws(StoreFailure) {
            try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'challenges'")
                > 0
        }
    }

    func all<Value>(
        _ statement: StoreStatement, _ arguments: [StoredValue],
        _ read: (inout SQLiteRow) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> [Value] {
        try self[statement].bind(arguments).all(read)
    }
}
