import PostgreSQLServer
import PostgreSQLStore
import StoreContract
import TestSupport
import Testing
import Verification

/// Rows that were changed by somebody who can write the database and has no key.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql-15 is missing"))
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
        try await StoreContract.checkPutBackRows(edited(database, try database.open())) {
            try database.audit().rows
        }
    }

    @Test("O-02 an audit names rows that no event tells of, and those that are gone")
    func unrecorded() async throws {
        let database = try TestDatabase()
        try await StoreContract.checkUnrecordedRows(edited(database, try database.open())) {
            try database.audit().rows
        }
    }

    @Test("O-02 an audit names clients whose rows were put back, made up or taken away")
    func clients() async throws {
        let database = try TestDatabase()
        try await StoreContract.checkClients(edited(database, try database.open())) {
            try database.audit().rows
        }
    }

    @Test("O-01 an audit names a row whose key was emptied")
    func emptyKeys() async throws {
        let database = try TestDatabase()
        try await StoreContract.checkEmptyKeys(edited(database, try database.open())) {
            try database.audit().rows
        }
    }

    @Test("O-03 an audit names a chain whose end's position was changed")
    func headPosition() async throws {
        let database = try TestDatabase()
        try await StoreContract.checkHeadPosition(edited(database, try database.open())) {
            try database.audit().findings
        }
    }

    @Test("O-02 an event names every row that its commit wrote")
    func shared() async throws {
        let database = try TestDatabase()
        try await StoreContract.checkSharedEvents(edited(database, try database.open())) {
            try database.audit().rows
        }
    }

    @Test(
        "O-03 nothing is pruned where the oldest events were changed",
        arguments: StoreContract.disguises)
    func disguised(what: String, script: String) async throws {
        let database = try TestDatabase()
        try await StoreContract.checkDisguise(try database.open()) {
            try database.query("SET search_path = watchword; " + script)
        }
    }

    @Test("O-03 a clock is borne out by authentic events alone")
    func witness() async throws {
        let database = try TestDatabase()
        try await StoreContract.checkWitness(
            edited(database, try database.open()), key: StoreKeys.known.auditKey)
    }

    private func edited(_ database: TestDatabase, _ store: PostgreSQLStore) -> EditedDatabase {
        EditedDatabase(
            store, schema: "watchword.",
            bytes: { "'\\x\(Hex.text($0))'::bytea" },
            run: { try database.query($0) },
            columns: { table in
                try database.query(
                    "SELECT column_name FROM information_schema.columns "
                        + "WHERE table_schema = 'watchword' AND table_name = '\(table)'"
                ).split(separator: "\n").map(String.init)
            })
    }
}
