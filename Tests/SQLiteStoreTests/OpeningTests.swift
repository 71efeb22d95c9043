import Foundation
import SQLStore
import StoreContract
import TestSupport
import Testing
import Verification
import WatchwordSystem

@testable import SQLiteStore

/// The databases that are created, opened and refused.
struct OpeningTests {
    @Test("a missing database is created with its folder, private to its owner")
    func made() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a/b/verifier.db")
        let store = try SQLiteVerificationStore(opening: path, key: KeyRing.make().auditKey)
        #expect(try await store.commit([.insertCredential(.sample(1))]) == .done)
        #expect(try mode(of: folder.file("a")) == 0o700)
        #expect(try mode(of: folder.file("a/b")) == 0o700)
        for name in try names(in: folder.file("a/b")) {
            #expect(try mode(of: folder.file("a/b/\(name)")) == 0o600, "\(name)")
        }
    }

    @Test("a database counts as existing once it is created, even after its file is removed")
    func exists() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a/verifier.db")
        #expect(try !SQLiteVerificationStore.exists(path))
        let keys = folder.file("keys")
        let ring = try KeyRing(at: keys) { try SQLiteVerificationStore.exists(path) }
        try SQLiteVerificationStore(opening: path, key: ring.auditKey).close()
        #expect(try SQLiteVerificationStore.exists(path))
        try removeFile(path)
        #expect(try SQLiteVerificationStore.exists(path))
        try removeFile(keys)
        #expect(throws: VerifierError.keyRing(.lost)) {
            try KeyRing(at: keys) { try SQLiteVerificationStore.exists(path) }
        }
    }

    @Test("closing leaves all data in one file, and the data is complete after reopening")
    func reopened() async throws {
        let database = try TestDatabase()
        let first = try database.open()
        _ = try await first.commit([.insertCredential(.sample(1)), .appendEvent(.sample(1))])
        first.close()
        #expect(
            try names(in: database.folder.path)
                == ["verifier.db", "verifier.db.lock", "verifier.db.mark"])
        let second = try database.open()
        #expect(try second.credential(.sample(1)) == .sample(1))
        _ = try await second.commit([.appendEvent(.sample(2))])
        #expect(try second.events(after: 0, limit: 9).map(\.sequence) == [1, 2])
        #expect(try second.audit().findings == [])
    }

    @Test("a closed store reports that it is closed")
    func closed() async throws {
        let store = try TestDatabase().open()
        store.close()
        store.close()
        await #expect(throws: StoreFailure(.unavailable, code: "closed")) {
            try await store.commit([.appendEvent(.sample(1))])
        }
        #expect(throws: StoreFailure(.unavailable, code: "closed")) {
            try store.credential(.sample(1))
        }
    }

    @Test("a path is refused if other users can change the path or if it is not a file")
    func exposed() throws {
        let database = try TestDatabase()
        try database.open().close()
        try setMode(0o640, of: database.path)
        #expect(throws: SQLStoreError.notPrivate(.openToOthers(mode: 0o640))) {
            try database.open()
        }
        try setMode(0o600, of: database.path)
        try setMode(0o770, of: database.folder.path)
        #expect(throws: SQLStoreError.exposed(.openToOthers(mode: 0o770))) {
            try database.open()
        }
        try setMode(0o700, of: database.folder.path)
        try linkSymbolically(database.path, to: database.folder.file("link.db"))
        #expect(throws: SQLStoreError.notPrivate(.symbolicLink)) {
            try open(database, "link.db")
        }
        try makeFolder(database.folder.file("folder.db"))
        #expect(throws: SQLStoreError.notPrivate(.folder)) { try open(database, "folder.db") }
        #expect(throws: SQLStoreError.notPrivate(.openToOthers(mode: 0o644))) {
            try database.folder.write([], to: "empty.db")
            try setMode(0o644, of: database.folder.file("empty.db"))
            try open(database, "empty.db")
        }
        if geteuid() == 0 {
            unsafe chown(database.path, 1, 1)
            #expect(throws: SQLStoreError.notPrivate(.otherOwner(1))) { try database.open() }
        }
    }

    @Test("an empty file becomes a database; an unrelated or damaged file is refused unchanged")
    func foreign() throws {
        let database = try TestDatabase()
        let folder = database.folder
        for name in ["empty.db", "text.db", "foreign.db"] {
            try folder.write(name == "text.db" ? Array("not a database\n".utf8) : [], to: name)
            try setMode(0o600, of: folder.file(name))
        }
        try open(database, "empty.db")
        #expect(throws: SQLStoreError.foreignFile) { try open(database, "text.db") }
        #expect(try folder.bytes(of: "text.db") == Array("not a database\n".utf8))
        try edit(folder.file("foreign.db"), "CREATE TABLE t (a); PRAGMA user_version = 1")
        let before = try folder.bytes(of: "foreign.db")
        #expect(throws: SQLStoreError.foreignFile) { try open(database, "foreign.db") }
        #expect(try folder.bytes(of: "foreign.db") == before)
    }

    @Test("a newer schema is refused, and its number is reported")
    func newer() throws {
        let database = try TestDatabase()
        try database.open().close()
        try edit(database.path, "PRAGMA user_version = 99")
        #expect(throws: SQLStoreError.newer(schema: 99)) { try database.open() }
    }

    /// Changes to the schema, and the object that the error reports.
    private static let schemaChanges = [
        ("CREATE TRIGGER undo AFTER UPDATE ON credentials BEGIN DELETE FROM events; END", "undo"),
        ("CREATE VIEW shown AS SELECT * FROM clients", "shown"),
        ("CREATE INDEX tickets_by_subject ON tickets (subject)", "tickets_by_subject"),
        ("CREATE TABLE kept AS SELECT * FROM clients", "kept"),
        ("ALTER TABLE tickets ADD COLUMN note TEXT", "tickets"),
        ("DROP INDEX credentials_by_fingerprint", "credentials_by_fingerprint"),
        ("DROP TABLE challenges", "challenges"),
    ]

    @Test(
        "a database whose schema was changed is not opened, copied, restored or audited",
        arguments: schemaChanges)
    func changedSchema(script: String, object: String) throws {
        let database = try TestDatabase()
        let key = database.keys.auditKey
        let backup = database.folder.file("backup.db")
        let store = try database.open()
        try store.backUp(to: backup, now: .at(1))
        try edit(database.path, script)
        try edit(backup, script)
        let refusal = SQLStoreError.changedSchema(object: object)
        #expect(throws: refusal) {
            try store.backUp(to: database.folder.file("second.db"), now: .at(2))
        }
        store.close()
        #expect(throws: refusal) { try database.open() }
        #expect(throws: refusal) {
            try SQLiteVerificationStore.audit(at: database.path, key: key)
        }
        #expect(throws: refusal) {
            try database.restore(
                backup, to: database.folder.file("restored.db"), .init(now: .at(3)))
        }
    }

    @Test("statistics that ANALYZE stored do not count as a changed schema")
    func statistics() throws {
        let database = try TestDatabase()
        try database.open().close()
        try edit(database.path, "ANALYZE")
        try database.open().close()
    }

    @Test("a trigger that is added while the database is open does not run")
    func plantedTrigger() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.insertCredential(.sample(1)), .appendEvent(.sample(1))])
        try edit(
            database.path,
            "CREATE TRIGGER undo AFTER UPDATE ON credentials BEGIN "
                + "UPDATE credentials SET version = old.version, body = old.body; END")
        let changed = CredentialRow.sample(1, version: 2)
        _ = try await store.commit([.updateCredential(changed), .appendEvent(.sample(2))])
        #expect(try store.credential(.sample(1)) == changed)
    }

    @Test("a file name that looks like a URI is used as a file name")
    func uri() throws {
        let database = try TestDatabase()
        try open(database, "file:x?mode=memory")
        #expect(try names(in: database.folder.path).contains("file:x?mode=memory"))
    }

    @Test(
        "processes that open the same new database at the same time create it once, with one chain")
    func freshRace() async throws {
        let database = try TestDatabase()
        let writer = ForeignProgram(path: BuiltProgram.path("store-writer"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<4 {
                group.addTask {
                    let outcome = try writer.run(["write", database.path, "\(index)", "3"])
                    #expect(outcome.status == 0, "\(outcome.text)")
                }
                group.addTask {
                    let store = try SQLiteVerificationStore(
                        opening: database.path, key: StoreKeys.known.auditKey, timeout: .seconds(20)
                    )
                    #expect(try await store.commit([.insertTicket(.sample(index))]) == .done)
                }
            }
            try await group.waitForAll()
        }
        let store = try SQLiteVerificationStore(
            opening: database.path, key: StoreKeys.known.auditKey)
        #expect(try store.chains().count == 1)
        #expect(try store.events(after: 0, limit: 100).count == 12)
        #expect(try store.audit().findings == [])
    }

    @Test("the settings that durability and security depend on are in effect")
    func settings() throws {
        let database = try TestDatabase()
        let folder = DatabaseLocation(database.path)
        let writer = try folder.open(
            key: database.keys.auditKey, checkpointer: Checkpointer(path: database.path),
            timeout: .seconds(1))
        let connection = writer.session
        for (pragma, value) in [
            ("synchronous", 2), ("secure_delete", 1), ("trusted_schema", 0),
            ("cell_size_check", 1),
        ] {
            #expect(try connection.connection.number("PRAGMA \(pragma)") == value, "\(pragma)")
        }
    }

    private func open(_ database: TestDatabase, _ name: String) throws {
        try SQLiteVerificationStore(
            opening: database.folder.file(name), key: database.keys.auditKey
        ).close()
    }

    @Test("a database that is being written to and pruned opens without a rollback error")
    func underLoad() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.appendEvent(.sample(0))])
        try store.saveCheckpoint()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var number = 0
                    while !Task.isCancelled {
                        number += 1
                        _ = try await store.commit([
                            .appendEvent(.sample(writer, at: Int64(number)))
                        ])
                        if number.isMultiple(of: 50) {
                            let before = UnixTime.at(Int64(number) - 20)
                            _ = try await store.prune(
                                Pruning(now: .at(0), eventsBefore: before, limit: 20))
                        }
                    }
                }
            }
            for _ in 0..<60 { try database.open().close() }
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(try store.audit().findings == [])
    }
}

/// Changes a database directly, without the store.
func edit(_ path: String, _ script: String) throws {
    let connection = try SQLiteConnection(path: path, .readWrite, timeout: .seconds(1))
    try connection.execute(script)
}
