import Testing

@testable import SQLStore
@testable import SQLiteStore
@testable import Verification

/// The statements, each of which is prepared at its first use.
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

    @Test("both databases have the same schema steps, which create the columns of all rows")
    func steps() throws {
        #expect(SQLiteDialect.steps.count == PostgreSQLDialect.steps.count)
        let connection = try SQLiteConnection(path: ":memory:", .readWrite, timeout: .zero)
        for (step, sql) in zip(1..., SQLiteDialect.steps) {
            try connection.execute(sql)
            try expectColumns(of: CredentialRow.self, after: step, in: connection)
            try expectColumns(of: TicketRow.self, after: step, in: connection)
            try expectColumns(of: ChallengeRow.self, after: step, in: connection)
            try expectColumns(of: AnswerRow.self, after: step, in: connection)
            try expectColumns(of: ClientRow.self, after: step, in: connection)
        }
    }

    private func expectColumns<Row: ColumnRow>(
        of rows: Row.Type, after step: Int, in connection: borrowing SQLiteConnection
    ) throws {
        let names: [String] = try connection.prepare(
            "SELECT name FROM pragma_table_info('\(Row.table)')"
        ).all { row throws(StoreFailure) in try row.requiredText() }
        let listed = Row.columns.filter { $0.step ?? Row.step <= step }.map(\.name)
        let expected = step < Row.step ? [] : listed + ["authentication"]
        #expect(Set(names) == Set(expected), "\(Row.table) after step \(step)")
    }

    @Test("a statement for an earlier schema reads NULL in place of a later column")
    func earlier() {
        let sqlite = [2, 3, 4].map { SQLiteDialect(step: $0).page(ExtendedRow.self) }
        let rest = "authentication FROM rows WHERE id >= ?1 ORDER BY id LIMIT ?2"
        #expect(
            sqlite == [
                "SELECT id, note, NULL, NULL, \(rest)", "SELECT id, note, model, NULL, \(rest)",
                "SELECT id, note, model, place, \(rest)",
            ])
        #expect(
            PostgreSQLDialect(step: 2).find(ExtendedRow.self)
                == "SELECT id, note, NULL, NULL, authentication FROM rows WHERE id = $1::bytea")
    }

    /// Statements, with their texts in SQLite.
    private static let texts: [(statement: StoreStatement, text: String)] = [
        (
            .credentialsByID,
            """
            SELECT id, subject, kind, state, version, key_id, fingerprint, created_at, \
            lapses_at, body, authentication FROM credentials WHERE id >= ?1 ORDER BY id LIMIT ?2
            """
        ),
        (
            .updateClients,
            """
            UPDATE clients SET version = ?2, digest = ?3, name = ?4, scopes = ?5, \
            created_at = ?6, revoked_at = ?7, subjects = ?8, authentication = ?9 \
            WHERE id = ?1 AND version = ?2 - 1
            """
        ),
        (
            .insertAnswers,
            """
            INSERT INTO answers (key, request, credential, key_id, sealed_answer, expires_at, \
            authentication) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """
        ),
    ]

    @Test("statements have the expected text", arguments: texts)
    func known(statement: StoreStatement, text: String) {
        #expect(SQLiteDialect().text(of: statement) == text)
    }
}

/// A row whose table gained two columns.
private struct ExtendedRow: ColumnRow {
    let id: [UInt8]
    let note: [UInt8]?
    let model: String?
    let place: [UInt8]?

    static let table = "rows"
    static let columns: [Column<ExtendedRow>] = [
        Column("id") { $0.id },
        Column("note") { $0.note },
        Column("model", since: 3) { $0.model },
        Column("place", since: 4) { $0.place },
    ]

    init(reading row: inout RowReader) throws(StoreFailure) {
        id = try row.read()
        note = try row.read()
        model = try row.read()
        place = try row.read()
    }

    var primaryKey: [UInt8] { id }
}
