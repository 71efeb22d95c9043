import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// Rows that were changed by somebody who can write the database and has no key.
struct EditedRowTests {
    @Test("O-01 each column of each table, changed in turn, is damage and never a row")
    func everyColumn() async throws {
        let database = try TestDatabase()
        try await StoreContract.checkEveryColumn(edited(database, try database.open()))
    }

    @Test("O-01 an authentic row in another row's place is damage")
    func swaps() async throws {
        let database = try TestDatabase()
        try await StoreContract.checkSwaps(edited(database, try database.open()))
    }

    private func edited(_ database: TestDatabase, _ store: SQLiteStore) -> EditedDatabase {
        let path = database.path
        return EditedDatabase(
            store, bytes: { "x'\(Hex.text($0))'" },
            run: { try edit(path, $0) },
            columns: { table in
                let connection = try SQLiteConnection(path: path, .readOnly, patience: 1_000)
                return try connection.prepare("SELECT name FROM pragma_table_info('\(table)')")
                    .all { row throws(SQLiteFailure) in try row.requiredText() }
            })
    }
}
