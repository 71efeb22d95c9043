import PostgreSQLServer
import PostgreSQLStore
import StoreContract
import TestSupport
import Testing
import Verification

/// Rows that were changed by an attacker who can write to the database but has no key.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
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
            try database.query("SET search_path = watchword; " + script)
        }
    }

    private func edited(_ database: TestDatabase) throws -> EditedDatabase {
        EditedDatabase(
            try database.open(), key: database.keys.auditKey, schema: "watchword.",
            bytes: { "'\\x\(Hex.text($0))'::bytea" },
            run: { try database.query($0) },
            columns: { table in
                try database.query(
                    "SELECT column_name FROM information_schema.columns "
                        + "WHERE table_schema = 'watchword' AND table_name = '\(table)'"
                ).split(separator: "\n").map(String.init)
            },
            audit: {
                let report = try database.audit()
                return EditedDatabase.Findings(events: report.findings, rows: report.rows)
            })
    }
}
