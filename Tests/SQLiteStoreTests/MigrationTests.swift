import Foundation
import SQLStore
import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// Databases of earlier releases.
struct MigrationTests {
    /// The database of an earlier release, with two credentials and three events.
    private func earlier() throws -> TestDatabase {
        let database = try TestDatabase()
        let file = PackageFolder.root.appending(path: "Vectors/databases/schema-1.db")
        try database.folder.write(Array(Data(contentsOf: file)), to: "verifier.db")
        try setMode(0o600, of: database.path)
        return database
    }

    @Test("a migrated database has the tables of a new database")
    func unchanged() throws {
        let (old, new) = (try earlier(), try TestDatabase())
        try old.open().close()
        try new.open().close()
        #expect(try tables(old) == tables(new))
    }

    private func tables(_ database: TestDatabase) throws -> [String] {
        let connection = try SQLiteConnection(
            path: database.path, .readWrite, timeout: .seconds(1))
        return try connection.prepare(
            "SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name"
        )
        .all { row throws(StoreFailure) in try row.requiredText() }
    }

    @Test("a database of the first schema is opened with its rows, and keeps challenges")
    func opened() async throws {
        let database = try earlier()
        let store = try database.open()
        #expect(try store.credential(.sample(1_000))?.version == 2)
        #expect(try store.credential(.sample(1_001))?.version == 1)
        #expect(try store.events(after: 0, limit: 10).count == 3)
        #expect(try await store.commit([.insertChallenge(.sample(1))]) == .done)
        store.close()
        let again = try database.open()
        #expect(try again.challenge(digest: ChallengeRow.sample(1).digest) == .sample(1))
        let report = try again.audit()
        #expect(report.findings == [])
        #expect(report.rows == [])
        #expect(report.isSound)
    }

    @Test("a database of the first schema is audited without a migration")
    func audited() throws {
        let database = try earlier()
        let key = database.keys.auditKey
        let report = try SQLiteVerificationStore.audit(at: database.path, key: key)
        #expect(report.findings == [])
        #expect(report.rows == [])
        #expect(report.events == 3)
        #expect(try SQLiteVerificationStore.endedCredentials(at: database.path).isComplete)
    }

    @Test("a backup of the first schema is migrated when it is restored")
    func restored() async throws {
        let database = try TestDatabase()
        let key = database.keys.auditKey
        let earlier = try database.open()
        _ = try await earlier.commit([.appendEvent(.sample(1))])
        earlier.close()
        try edit(
            database.path,
            "DROP TABLE challenges; ALTER TABLE clients DROP COLUMN subjects; "
                + "PRAGMA user_version = 1")
        let restored = database.folder.file("restored.db")
        try database.restore(database.path, to: restored, .init(now: .at(100)))
        let store = try SQLiteVerificationStore(opening: restored, key: key)
        #expect(try store.challenge(digest: ChallengeRow.sample(1).digest) == nil)
        #expect(try store.audit().findings == [])
    }

    @Test("a client created before limits existed stays valid, and a removed limit is detected")
    func limits() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        let rows = [ClientRow.sample(1), .sample(2, subjects: "shop/")]
        for row in rows { #expect(try await store.commit([.insertClient(row)]) == .done) }
        store.close()
        try edit(
            database.path, "ALTER TABLE clients DROP COLUMN subjects; PRAGMA user_version = 2")
        let migrated = try database.open()
        #expect(try migrated.client(digest: rows[0].digest) == rows[0])
        #expect(throws: StoreFailure.invalidRow) { try migrated.client(digest: rows[1].digest) }
    }

    @Test("a database that several processes open at the same time is migrated once")
    func together() async throws {
        let database = try earlier()
        let writer = ForeignProgram(path: BuiltProgram.path("store-writer"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<6 {
                group.addTask {
                    let outcome = try writer.run(["ask", database.path, "\(index * 3)", "3"])
                    #expect(outcome.status == 0, "\(outcome.text)")
                    #expect(outcome.text.split(separator: "\n").allSatisfy { $0.hasPrefix("done") })
                }
            }
            try await group.waitForAll()
        }
        let store = try database.open()
        for number in 0..<18 {
            #expect(try store.challenge(digest: sampleBytes(number, count: 32)) != nil)
        }
    }

    @Test(
        "a database opens after a process was killed during its migration",
        .enabled(if: Strace.canTrace, "strace is missing, or may not trace here"))
    func killed() throws {
        let strace = try #require(Strace())
        var kills = 0
        while true {
            let database = try earlier()
            let run = try strace.run(
                [BuiltProgram.path("store-writer"), "ask", database.path, "0", "0"],
                fault: "signal=KILL", at: "pwrite64", time: "\(kills + 1)")
            let store = try database.open()
            #expect(try store.credential(.sample(1_000))?.version == 2)
            #expect(try store.challenge(digest: sampleBytes(1, count: 32)) == nil)
            #expect(try store.audit().findings == [])
            guard run.status != 0 else { break }
            kills += 1
        }
        #expect(kills > 3)
    }
}
