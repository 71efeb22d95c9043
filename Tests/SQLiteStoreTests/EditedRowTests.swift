import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// Rows that were changed by an attacker who can write to the database but has no key.
struct EditedRowTests {
    @Test(
        "O-01 O-02 O-03 changes made without the key are reported as damage or found by an audit",
        arguments: StoreContract.editingRules)
    func rules(rule: StoreContract.EditingRule) async throws {
        let database = try TestDatabase()
        try await rule.check(try edited(database))
    }

    @Test(
        "O-03 nothing is pruned if the oldest events were changed",
        arguments: StoreContract.disguises)
    func disguised(what: String, script: String) async throws {
        let database = try TestDatabase()
        try await StoreContract.checkDisguise(try database.open()) {
            try edit(database.path, script)
        }
    }

    private func edited(_ database: TestDatabase) throws -> EditedDatabase {
        let path = database.path
        let store = try database.open()
        return EditedDatabase(
            store, key: database.keys.auditKey, bytes: { "x'\(Hex.text($0))'" },
            run: { try edit(path, $0) },
            columns: { table in
                let connection = try SQLiteConnection(path: path, .readOnly, timeout: .seconds(1))
                return try connection.prepare("SELECT name FROM pragma_table_info('\(table)')")
                    .all { row throws(StoreFailure) in try row.requiredText() }
            },
            audit: {
                let report = try store.audit()
                return EditedDatabase.Findings(events: report.findings, rows: report.rows)
            })
    }
}
