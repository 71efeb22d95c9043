import SQLStore
import Testing

@testable import SQLiteStore

/// The statements, which are prepared only when they are first used.
struct StatementTests {
    @Test("every statement is prepared on a new database")
    func prepared() throws {
        let database = try TestDatabase()
        try database.open().close()
        let connection = try SQLiteConnection(
            path: database.path, .readWrite, timeout: .seconds(1))
        let statements = StoreStatement.allCases.compactMap { $0.sql(in: SQLiteDialect()) }
        #expect(statements.count > 40)
        for statement in statements { _ = try connection.prepare(statement) }
    }

    @Test("each statement belongs to at least one of the two databases")
    func used() {
        for statement in StoreStatement.allCases {
            let isUsed =
                statement.sql(in: SQLiteDialect()) != nil
                || statement.sql(in: PostgreSQLDialect()) != nil
            #expect(isUsed, "\(statement)")
        }
    }
}
