import PostgreSQLServer
import StoreContract
import Testing
import Verification

@testable import PostgreSQLStore

/// Reads that the server aborts in favour of a different transaction.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct AbortedReadTests {
    /// A database whose table is behind a view that fails with `code` the first `count` times.
    private func database(failing count: Int, with code: String) async throws -> (
        TestDatabase, PostgreSQLVerificationStore
    ) {
        let database = try TestDatabase()
        // The view is created after the store is opened, because a store refuses a changed schema.
        let store = try database.open()
        try await store.commit([.insertCredential(.sample(1))]).expectDone()
        try database.query(
            """
            SET search_path = watchword;
            CREATE SEQUENCE tries;
            GRANT ALL ON tries TO PUBLIC;
            CREATE FUNCTION fail() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
            BEGIN
                IF nextval('watchword.tries') > \(count) THEN RETURN true; END IF;
                RAISE EXCEPTION 'given up' USING ERRCODE = '\(code)';
            END $$;
            ALTER TABLE credentials RENAME TO hidden;
            CREATE VIEW credentials AS SELECT * FROM hidden WHERE fail();
            GRANT ALL ON credentials, hidden TO PUBLIC;
            """)
        return (database, store)
    }

    @Test(
        "a read that the server aborted in favour of another transaction is retried",
        arguments: ["40001", "40P01"])
    func triedAgain(code: String) async throws {
        let (_, store) = try await database(failing: 3, with: code)
        #expect(try await store.credential(.sample(1)) == .sample(1))
    }

    @Test("a read is retried only a limited number of times")
    func bounded() async throws {
        let (database, store) = try await database(failing: 1_000, with: "40001")
        await #expect(throws: StoreFailure(.busy, code: "40001")) {
            try await store.credential(.sample(1))
        }
        #expect(try database.query("SELECT last_value FROM watchword.tries").contains("6"))
    }
}

extension CommitOutcome {
    /// Expects that a step of the preparation succeeded.
    fileprivate func expectDone() throws { #expect(self == .done) }
}
