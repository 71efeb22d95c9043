import PostgreSQLServer
import StoreContract
import TestSupport
import Testing
import Verification

@testable import PostgreSQLStore

/// The reports of a store about a database that aborts, blocks or disconnects, and the store's
/// recovery.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct StoreFailureTests {
    /// Makes the first `count` insertions of tickets run `statement`, which disturbs the
    /// insertions.
    private func spoil(_ database: TestDatabase, _ count: Int, _ statement: String) throws {
        try database.query(
            """
            CREATE SEQUENCE watchword.tries;
            CREATE FUNCTION watchword.spoil() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
            BEGIN
                IF nextval('watchword.tries') <= \(count) THEN \(statement); END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER spoil BEFORE INSERT ON watchword.tickets
                FOR EACH ROW EXECUTE FUNCTION watchword.spoil()
            """)
    }

    /// An audit refuses tables with a trigger.
    private func repair(_ database: TestDatabase) throws {
        try database.query("DROP FUNCTION watchword.spoil CASCADE")
    }

    private func tries(_ database: TestDatabase) throws -> String {
        try database.query("SELECT last_value FROM watchword.tries")
    }

    @Test(
        "a transaction that the database aborted in favour of a different one is retried",
        arguments: ["40001", "40P01"])
    func passing(code: String) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try spoil(database, 3, "RAISE EXCEPTION USING ERRCODE = '\(code)'")
        #expect(
            try await store.commit([.insertTicket(.sample(1)), .appendEvent(.sample(1))]) == .done)
        #expect(try tries(database) == "4")
        #expect(try await store.ticket(digest: TicketRow.sample(1).digest) == .sample(1))
        try repair(database)
        #expect(try database.audit().isWhole(events: 1))
    }

    @Test("a transaction that fails at its commit is retried or refused")
    func failingAtItsEnd() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try database.query(
            """
            CREATE SEQUENCE watchword.tries;
            CREATE FUNCTION watchword.spoil() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
            BEGIN
                IF nextval('watchword.tries') <= 2 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF;
                IF NEW.expires_at = 1700000005000 THEN RAISE EXCEPTION USING ERRCODE = '23514'; END IF;
                RAISE WARNING 'of a statement, not of the end';
                RETURN NEW;
            END $$;
            CREATE CONSTRAINT TRIGGER spoil AFTER INSERT ON watchword.tickets
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION watchword.spoil()
            """)
        #expect(
            try await store.commit([.insertTicket(.sample(1)), .appendEvent(.sample(1))]) == .done)
        #expect(try tries(database) == "3")
        await #expect(throws: StoreFailure(.damaged, code: "23514")) {
            try await store.commit([
                .insertTicket(.sample(2, expiresAt: 5)), .appendEvent(.sample(2)),
            ])
        }
        #expect(try await store.ticket(digest: TicketRow.sample(1).digest) == .sample(1))
        #expect(try await store.ticket(digest: TicketRow.sample(2).digest) == nil)
        #expect(try await store.commit([.insertTicket(.sample(3))]) == .done)
        try repair(database)
        #expect(try database.audit().isWhole(events: 1))
    }

    @Test("a commit that is repeatedly aborted fails with “busy” and changes nothing")
    func givenUp() async throws {
        let database = try TestDatabase()
        let store = try database.open(timeout: .seconds(2))
        try spoil(database, 1_000_000, "RAISE EXCEPTION USING ERRCODE = '40001'")
        await #expect(throws: StoreFailure(.busy, code: "40001")) {
            try await store.commit([.insertTicket(.sample(1)), .appendEvent(.sample(1))])
        }
        #expect(try #require(Int(try tries(database))) > 1)
        try database.query("DROP TRIGGER spoil ON watchword.tickets")
        #expect(try await store.ticket(digest: TicketRow.sample(1).digest) == nil)
        #expect(try await store.commit([.insertTicket(.sample(1))]) == .done)
        #expect(try await store.events(after: 0, limit: 10) == [])
    }

    @Test("a commit fails with “busy” if a lock is never released or a statement never ends")
    func locked() async throws {
        let database = try TestDatabase()
        let store = try database.open(timeout: .seconds(1))
        _ = try await store.commit([.insertCredential(.sample(1))])
        let lock = try HeldLock(
            database, "SELECT id FROM watchword.credentials FOR UPDATE")
        let change = StoreChange.updateCredential(.sample(1, version: 2))
        await #expect(throws: StoreFailure(.busy, code: "55P03")) {
            try await store.commit([change])
        }
        // Readers do not wait for writers.
        #expect(try await store.credential(.sample(1))?.version == 1)
        try lock.release()
        #expect(try await store.commit([change]) == .done)
        try spoil(database, 1, "PERFORM pg_sleep(60)")
        await #expect(throws: StoreFailure(.busy, code: "57014")) {
            try await store.commit([.insertTicket(.sample(1))])
        }
        #expect(try await store.commit([.insertTicket(.sample(1))]) == .done)
    }

    @Test("a session terminated in the middle of a transaction commits nothing")
    func terminated() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try spoil(database, 1, "PERFORM pg_terminate_backend(pg_backend_pid())")
        let changes: [StoreChange] = [.insertTicket(.sample(1)), .appendEvent(.sample(1))]
        await #expect(throws: StoreFailure(.unavailable, code: "57P01")) {
            try await store.commit(changes)
        }
        #expect(try await store.ticket(digest: TicketRow.sample(1).digest) == nil)
        #expect(try await store.commit(changes) == .done)
        try repair(database)
        #expect(try database.audit().isWhole(events: 1))
    }

    @Test("a commit whose wait for the standby is cancelled is not acknowledged")
    func cancelled() async throws {
        let server = try await onOwnThread { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: server)
        let store = try database.open()
        _ = try await store.commit([.appendEvent(.sample(1))])
        try server.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try server.query("SELECT pg_reload_conf()")
        let commit = Task { try await store.commit([.appendEvent(.sample(2))]) }
        var cancelled = ""
        while cancelled.isEmpty {
            cancelled = try server.query(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            try await Task.sleep(for: .milliseconds(10))
        }
        await #expect(throws: StoreFailure(.unavailable, code: "unconfirmed")) {
            try await commit.value
        }
        try server.query("ALTER SYSTEM RESET synchronous_standby_names")
        try server.query("SELECT pg_reload_conf()")
        // The commit took effect on this server anyway, and the chain continues after it.
        while (try? await store.commit([.appendEvent(.sample(3))])) != .done {
            try await Task.sleep(for: .milliseconds(10))
        }
        let events = try await store.events(after: 0, limit: 10).compactMap { $0.event?.number }
        #expect(events.starts(with: [1, 2]) && events.last == 3)
        #expect(try database.audit().findings == [])
    }

    @Test(
        "a weaker durability setting of a database is ignored, and a stronger one is kept")
    func durability() async throws {
        for (weak, expected) in [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")] {
            let database = try TestDatabase()
            let name = try #require(database.url.split(separator: "/").last)
            try database.query("ALTER DATABASE \(name) SET synchronous_commit = \(weak)")
            let store = try database.open()
            try spoil(
                database, 1,
                "PERFORM set_config('watchword.seen', "
                    + "current_setting('synchronous_commit'), false); "
                    + "INSERT INTO watchword.decoys VALUES (9999, "
                    + "convert_to(current_setting('synchronous_commit'), 'UTF8'))")
            _ = try await store.commit([.insertTicket(.sample(1))])
            let seen = try database.query(
                "SELECT convert_from(body, 'UTF8') FROM watchword.decoys WHERE slot = 9999")
            #expect(seen == expected)
        }
    }
}
