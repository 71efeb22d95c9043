import StoreContract
import TestSupport
import Testing
import Verification
import WatchwordSystem

@testable import SQLiteStore

/// The times of the checkpoints of the write-ahead log, and the growth of the log.
struct WriteAheadLogTests {
    @Test("the log is checkpointed in the background, long before it is full")
    func beside() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        let mark = Array("the first row of all".utf8)
        try await write(mark, to: store, slot: 0)
        #expect(try !holds(database, mark))
        // Each write changes at least one separate page.
        for slot in 1...300 { try await write([], to: store, slot: UInt64(slot)) }
        #expect(try frames(database) < Int(WriteAheadLog.typicalLength) / 2)
        try eventually { try holds(database, mark) }
    }

    @Test("a full log restarts, even after a reader has used it")
    func limited() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        for round in 0..<3 {
            for slot in 0..<1_000 { try await write([], to: store, slot: UInt64(slot)) }
            #expect(try store.audit().findings == [], "\(round)")
        }
        // About nine thousand pages were written.
        #expect(
            try frames(database) < Int(WriteAheadLog.typicalLength + 2 * WriteAheadLog.interval))
        #expect(try store.events(after: 0, limit: 5_000).count == 3_000)
    }

    @Test(
        "a long-running reader does not block writers; the log restarts once the reader has ended")
    func reader() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await write([1], to: store, slot: 0)
        let reader = try SQLiteSession(
            SQLiteConnection(path: database.path, .readOnly, timeout: .zero))
        try reader.connection.execute("BEGIN")
        #expect(try reader.connection.number("SELECT count(*) FROM decoys") == 1)
        for slot in 0..<1_000 { try await write([], to: store, slot: UInt64(slot)) }
        for slot in 0..<1_000 { try await write([], to: store, slot: UInt64(slot)) }
        #expect(try reader.connection.number("SELECT count(*) FROM decoys") == 1)
        let length = try frames(database)
        #expect(length > Int(WriteAheadLog.typicalLength))
        try reader.connection.execute("COMMIT")
        // The file keeps its length; its frames are reused, beginning with the first.
        for slot in 0..<1_000 { try await write([], to: store, slot: UInt64(slot)) }
        #expect(try frames(database) < length + 2 * Int(WriteAheadLog.interval))
    }

    @Test("pages that the disk did not confirm stay in the log until the next opening")
    func unconfirmed() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        for slot in 0..<200 { try await write([], to: store, slot: UInt64(slot)) }
        store.checkpointer.note(.init(10 | (4 << 8)))
        store.checkpointer.note(.done)
        for slot in 0..<1_800 { try await write([], to: store, slot: UInt64(slot)) }
        #expect(store.checkpointFailure == StoreFailure(.unavailable, code: "SQLITE_IOERR"))
        let length = Int(WriteAheadLog.typicalLength + 2 * WriteAheadLog.interval)
        #expect(try frames(database) > length)
        store.close()
        #expect(try frames(database) > length)
        let again = try database.open()
        #expect(try again.events(after: 0, limit: 3_000).count == 2_000)
        try await write([], to: again, slot: 0)
        #expect(again.checkpointFailure == nil)
        again.close()
        #expect(throws: (any Error).self) { try database.folder.bytes(of: "verifier.db-wal") }
    }

    @Test("a failed checkpoint is reported until a later checkpoint succeeds")
    func told() {
        let checkpointer = Checkpointer(path: "")
        #expect(checkpointer.failure == nil)
        checkpointer.note(.init(13))
        #expect(checkpointer.failure?.code == "SQLITE_FULL")
        #expect(!checkpointer.mustKeepLog)
        checkpointer.note(.done)
        #expect(checkpointer.failure == nil)
    }

    @Test("closing checkpoints the whole log and deletes its files")
    func closed() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        for slot in 0..<400 { try await write([], to: store, slot: UInt64(slot)) }
        store.close()
        for name in ["verifier.db-wal", "verifier.db-shm"] {
            #expect(throws: (any Error).self) { try database.folder.bytes(of: name) }
        }
        let again = try database.open()
        #expect(try again.events(after: 0, limit: 1_000).count == 400)
    }

    private func write(_ body: [UInt8], to store: SQLiteVerificationStore, slot: UInt64)
        async throws
    {
        let padding = [UInt8](repeating: 0, count: 1_500)
        let changes: [StoreChange] = [
            .writeDummy(DummyRow(slot: slot, body: body + padding)),
            .appendEvent(.sample(Int(slot))),
        ]
        #expect(try await store.commit(changes) == .done)
    }

    private func frames(_ database: TestDatabase) throws -> Int {
        try database.folder.bytes(of: "verifier.db-wal").count / (24 + Schema.pageSize)
    }

    private func holds(_ database: TestDatabase, _ bytes: [UInt8]) throws -> Bool {
        try database.folder.bytes(of: "verifier.db").firstRange(of: bytes) != nil
    }

    private func eventually(_ isSo: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !isSo() {
            guard .now < end else {
                Issue.record("the condition never held")
                return
            }
        }
    }
}
