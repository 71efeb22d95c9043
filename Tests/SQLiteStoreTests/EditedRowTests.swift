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

    @Test("O-02 an audit names the credential whose row was put back to an older version")
    func putBack() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await StoreContract.checkPutBackRows(edited(database, store)) { try store.audit().rows }
    }

    @Test("O-02 an audit names rows that no event tells of, and those that are gone")
    func unrecorded() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await StoreContract.checkUnrecordedRows(edited(database, store)) {
            try store.audit().rows
        }
    }

    @Test("O-02 an audit names clients whose rows were put back, made up or taken away")
    func clients() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await StoreContract.checkClients(edited(database, store)) {
            try store.audit().rows
        }
    }

    @Test("O-01 an audit names a row whose key was emptied")
    func emptyKeys() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await StoreContract.checkEmptyKeys(edited(database, store)) {
            try store.audit().rows
        }
    }

    @Test("O-03 an audit names a chain whose end's position was changed")
    func headPosition() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await StoreContract.checkHeadPosition(edited(database, store)) {
            try store.audit().findings
        }
    }

    @Test("O-02 an event names every row that its commit wrote")
    func shared() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await StoreContract.checkSharedEvents(edited(database, store)) {
            try store.audit().rows
        }
    }

    @Test(
        "O-03 nothing is pruned where the oldest events were changed",
        arguments: StoreContract.disguises)
    func disguised(what: String, script: String) async throws {
        let database = try TestDatabase()
        try await StoreContract.checkDisguise(try database.open()) {
            try edit(database.path, script)
        }
    }

    @Test("O-03 a clock is borne out by authentic events alone")
    func witness() async throws {
        let database = try TestDatabase()
        try await StoreContract.checkWitness(
            edited(database, try database.open()), key: database.keys.auditKey)
    }

    private func edited(_ database: TestDatabase, _ store: SQLiteStore) -> EditedDatabase {
        let path = database.path
        return EditedDatabase(
            store, bytes: { "x'\(Hex.text($0))'" },
            run: { try edit(path, $0) },
            columns: { table in
                let connection = try SQLiteConnection(path: path, .readOnly, timeout: .seconds(1))
                return try connection.prepare("SELECT name FROM pragma_table_info('\(table)')")
                    .all { row throws(SQLiteFailure) in try row.requiredText() }
            })
    }
}
