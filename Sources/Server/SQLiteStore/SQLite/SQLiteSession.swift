internal import Verification

// `@unchecked Sendable` is safe: one thread creates a session and hands it over completely; the
// pool and the writer ensure that only one thread uses it at a time.
/// A connection with the statements that were prepared on it.
final class SQLiteSession: @unchecked Sendable {
    let connection: SQLiteConnection
    private var prepared: [SQLiteStatement?]

    init(_ connection: consuming SQLiteConnection) {
        self.connection = connection
        prepared = Array(repeating: nil, count: StoreStatement.allCases.count)
    }

    /// The statement, prepared at its first use.
    subscript(_ statement: StoreStatement) -> SQLiteStatement {
        get throws(SQLiteFailure) {
            if let ready = prepared[statement.rawValue] { return ready }
            let made = try connection.prepare(statement.sql, isKept: true)
            prepared[statement.rawValue] = made
            return made
        }
    }
}

extension SQLiteSession: StoreSnapshot {
    typealias Failure = SQLiteFailure
    typealias Row = SQLiteRow
    typealias Statement = StoreStatement

    var hasChallenges: Bool {
        get throws(SQLiteFailure) {
            try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'challenges'")
                > 0
        }
    }

    func chains() throws(SQLiteFailure) -> [ChainRecord] {
        try self[.chains].all { row throws(SQLiteFailure) in try row.chain() }
    }

    func events(after position: UInt64, limit: Int) throws(SQLiteFailure) -> [ChainedEvent] {
        try self[.events].bind(position).bind(Int64(limit)).all { row throws(SQLiteFailure) in
            try row.event()
        }
    }

    func rows<Value>(
        _ page: StoreStatement, from key: [UInt8], limit: Int,
        _ read: (inout SQLiteRow) throws(SQLiteFailure) -> Value
    ) throws(SQLiteFailure) -> [Value] {
        try self[page].bind(key).bind(Int64(limit)).all(read)
    }
}
