import PostgreSQLServer
import SQLStore
import StoreContract
import TestSupport
import Testing
import Verification
import WatchwordCryptography

@testable import PostgreSQLStore

/// The databases that are opened, even by several processes at once, and those that are refused.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct StartTests {
    /// The number of schema steps that were applied to the database.
    private func taken(_ database: TestDatabase) throws -> Int? {
        Int(try database.query("SELECT taken FROM watchword.steps"))
    }

    /// Leaves the tables of the first schema.
    private static let undoing = """
        DROP TABLE watchword.challenges;
        ALTER TABLE watchword.clients DROP COLUMN subjects;
        UPDATE watchword.steps SET taken = 1;
        """

    @Test("eight stores that start on an empty database create its tables once")
    func together() async throws {
        let database = try TestDatabase()
        let stores = try await withThrowingTaskGroup(of: PostgreSQLVerificationStore.self) {
            group in
            for _ in 0..<8 { group.addTask { try await onOwnThread { try database.open() } } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(try taken(database) == PostgreSQLDialect.steps.count)
        for (index, store) in stores.enumerated() {
            #expect(try await store.commit([.appendEvent(.sample(index))]) == .done)
        }
        #expect(try database.audit().isWhole(events: 8))
    }

    @Test("tables of the first schema are audited as they are, and migrated once by eight stores")
    func migrated() async throws {
        let database = try TestDatabase()
        let earlier = try database.open()
        let client = ClientRow.sample(1)
        _ = try await earlier.commit([
            .insertCredential(.sample(1)), .insertClient(client), .appendEvent(.sample(1)),
        ])
        earlier.close()
        try database.query(Self.undoing)
        #expect(try database.audit().isWhole(events: 1))
        #expect(
            try PostgreSQLVerificationStore.endedCredentials(at: address(database)).credentials
                == [])
        let stores = try await withThrowingTaskGroup(of: PostgreSQLVerificationStore.self) {
            group in
            for _ in 0..<8 { group.addTask { try await onOwnThread { try database.open() } } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(try taken(database) == PostgreSQLDialect.steps.count)
        for (index, store) in stores.enumerated() {
            #expect(try await store.credential(.sample(1)) == .sample(1))
            #expect(try await store.client(digest: client.digest) == client)
            #expect(try await store.commit([.insertChallenge(.sample(index))]) == .done)
        }
        #expect(try database.audit().isWhole(events: 1))
    }

    @Test("recovery migrates tables of the first schema")
    func recovered() async throws {
        let database = try TestDatabase()
        try database.open().close()
        try database.query(Self.undoing)
        try database.settle(.init(now: .at(0)))
        #expect(try taken(database) == PostgreSQLDialect.steps.count)
    }

    /// The additions to the tables, and the objects that the error reports.
    private static let additions = [
        (
            "CREATE TRIGGER undo BEFORE UPDATE ON credentials FOR EACH ROW "
                + "EXECUTE FUNCTION suppress_redundant_updates_trigger()", "trigger undo"
        ),
        ("CREATE RULE keep AS ON DELETE TO tickets DO INSTEAD NOTHING", "rule keep"),
        ("ALTER TABLE clients ENABLE ROW LEVEL SECURITY", "row security policy for clients"),
        (
            "ALTER TABLE decoys RENAME TO d; CREATE VIEW decoys AS SELECT * FROM d",
            "view decoys"
        ),
        ("CREATE TABLE more () INHERITS (credentials)", "parent or child table of credentials"),
        (
            "CREATE OR REPLACE FUNCTION expect_chain(is_found boolean) RETURNS boolean "
                + "LANGUAGE plpgsql AS 'BEGIN RETURN true; END'", "function expect_chain"
        ),
        (
            "CREATE FUNCTION length(bytea, text) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
            "function length"
        ),
        ("ALTER FUNCTION expect SECURITY DEFINER", "function expect"),
        (
            "CREATE OPERATOR === (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = byteaeq)",
            "operator ==="
        ),
        ("ALTER TABLE tickets ADD CONSTRAINT few CHECK (created_at > 0)", "constraint few"),
        (
            "ALTER TABLE tickets ADD FOREIGN KEY (credential) REFERENCES credentials "
                + "ON DELETE CASCADE", "constraint tickets_credential_fkey"
        ),
        ("ALTER TABLE tickets ADD COLUMN note text DEFAULT 'x'", "column note"),
        ("CREATE INDEX lengths ON tickets (length(subject))", "index lengths"),
    ]

    @Test(
        "tables with an addition that affects statements are neither opened, audited nor recovered",
        arguments: additions)
    func changedSchema(script: String, object: String) async throws {
        let database = try TestDatabase()
        try database.open().close()
        try database.query("SET search_path = watchword; " + script)
        let refusal = SQLStoreError.changedSchema(object: object)
        #expect(throws: refusal) { try database.open() }
        #expect(throws: refusal) { try database.audit() }
        #expect(throws: refusal) {
            try database.settle(.init(now: .at(0)))
        }
    }

    @Test("unrelated tables and plain indexes do not prevent a store from opening")
    func harmlessAdditions() throws {
        let database = try TestDatabase()
        try database.open().close()
        try database.query(
            """
            SET search_path = watchword;
            CREATE TABLE kept AS TABLE credentials;
            CREATE INDEX tickets_by_subject ON tickets (subject);
            """)
        try database.open().close()
        #expect(try database.audit().isWhole(events: 0))
    }

    /// A removed object, the server's error without it, and whether an audit needs the object.
    private static let removals = [
        ("DROP TABLE decoys", "42P01", false),
        ("ALTER TABLE decoys RENAME slot TO place", "42703", false),
        ("DROP FUNCTION expect", "42883", false), ("DROP TABLE tickets", "42P01", true),
        ("ALTER TABLE answers DROP request", "42703", true),
    ]

    @Test(
        "a store is neither opened nor recovered without a table, column or function that it needs",
        arguments: removals)
    func incompleteSchema(script: String, code: String, isAudited: Bool) throws {
        let database = try TestDatabase()
        try database.open().close()
        try database.query("SET search_path = watchword; " + script)
        let refusal = SQLStoreError.store(StoreFailure(.damaged, code: code))
        #expect(throws: refusal) { try database.open() }
        #expect(throws: refusal) { try database.settle(.init(now: .at(0))) }
        if isAudited {
            #expect(throws: refusal) { try database.audit() }
        } else {
            #expect(try database.audit().isWhole(events: 0))
        }
    }

    @Test("an open store opens no connection if a table is missing")
    func incompleteLater() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try database.query("DROP TABLE watchword.decoys")
        // The connection for reads is opened at the first read.
        await #expect(throws: StoreFailure(.damaged, code: "42P01")) {
            try await store.credential(.sample(1))
        }
    }

    @Test("a released schema step never changes")
    func unchanged() throws {
        let first = try #require(PostgreSQLDialect.steps.first)
        let digest = sha256(Array(first.utf8).span)
        #expect(Base64URL.encode(digest.span) == "9VtcD5ps1iSB-l1lVmiMALBNYZ-fBAqAO9K9Vkgpkzw")
    }

    private func address(_ database: TestDatabase) throws -> PostgreSQLAddress {
        try #require(PostgreSQLAddress(database.url))
    }

    @Test("tables of a newer version stay unchanged")
    func newer() async throws {
        let database = try TestDatabase()
        try database.open().close()
        try database.query("UPDATE watchword.steps SET taken = 7")
        #expect(throws: SQLStoreError.newer(schema: 7)) { try database.open() }
        #expect(throws: SQLStoreError.newer(schema: 7)) { try database.audit() }
        #expect(try taken(database) == 7)
    }

    @Test("a store does not reconnect to tables that a newer version has migrated")
    func takenOver() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        #expect(try await store.commit([.appendEvent(.sample(1))]) == .done)
        try database.query("UPDATE watchword.steps SET taken = 7")
        await #expect(throws: StoreFailure(.newer, code: "newer")) {
            try await store.credential(.sample(1))
        }
    }

    @Test("a database whose encoding is not UTF-8 is refused")
    func encoding() async throws {
        let server = try PostgreSQLServer.shared()
        try server.query(
            "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 OWNER watchword")
        let address = try #require(PostgreSQLAddress(server.url("latin")))
        #expect(throws: SQLStoreError.notUTF8) {
            try PostgreSQLVerificationStore(connecting: address, key: StoreKeys.known.auditKey)
        }
    }

    @Test("a key that did not authenticate the events is refused")
    func otherKey() async throws {
        let database = try TestDatabase()
        try database.open().close()
        let address = try #require(PostgreSQLAddress(database.url))
        let other = try KeyRing.make().auditKey
        #expect(throws: SQLStoreError.store(StoreFailure(.damaged, code: "chain"))) {
            try PostgreSQLVerificationStore(connecting: address, key: other)
        }
    }

    @Test("a wrong password is reported but not shown")
    func password() async throws {
        let database = try TestDatabase()
        let wrong = database.url.replacing("watchword@", with: "guarded:hunter2@")
        let address = try #require(PostgreSQLAddress(wrong))
        #expect(address.containsPassword)
        #expect(!address.shown.contains("hunter2"))
        do {
            _ = try PostgreSQLVerificationStore(connecting: address, key: StoreKeys.known.auditKey)
            Issue.record("the wrong password was accepted")
        } catch {
            guard case .unreachable(let message) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(message.contains("password authentication failed"))
            #expect(!message.contains("hunter2"))
        }
        #expect(!(try #require(PostgreSQLAddress(database.url))).containsPassword)
        #expect(PostgreSQLAddress("postgresql://a b:c@/%") == nil)
    }

    @Test("a key number belongs to the first key registered under it")
    func claims() async throws {
        let database = try TestDatabase()
        let stores = [try database.open(), try database.open()]
        let (one, two) = (KeyID.sample(1), KeyID.sample(2))
        #expect(try stores[0].claim([one: [1], two: [2]]) == [])
        #expect(try stores[1].claim([one: [1], two: [3]]) == [two])
        #expect(try stores[1].claim([one: [1], two: [2]]) == [])
    }
}
