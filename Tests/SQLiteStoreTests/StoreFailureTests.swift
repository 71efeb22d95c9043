import Foundation
import SQLStore
import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// A database that is locked, full, read-only or damaged: the store neither accepts a code nor
/// hangs.
struct StoreFailureTests {
    @Test("a lock held too long is reported, while reads continue; later commits succeed")
    func locked() async throws {
        let database = try TestDatabase()
        let store = try database.open(timeout: .milliseconds(50))
        _ = try await store.commit([.insertTicket(.sample(1))])
        let spending = [StoreChange.spendTicket(digest: TicketRow.sample(1).digest)]
        let other = SQLiteSession(
            try SQLiteConnection(path: database.path, .readWrite, timeout: .seconds(1)))
        try other.connection.execute("BEGIN IMMEDIATE")
        for _ in 0..<2 {
            await #expect(throws: StoreFailure(.busy, code: "SQLITE_BUSY")) {
                try await store.commit(spending)
            }
        }
        await #expect(throws: StoreFailure(.busy, code: "SQLITE_BUSY")) {
            try await store.prune(Pruning(now: .at(0)))
        }
        #expect(try store.ticket(digest: TicketRow.sample(1).digest) == .sample(1))
        try other.connection.execute("ROLLBACK")
        #expect(try await store.commit(spending) == .done)
    }

    @Test("a lock that another process holds during opening is reported")
    func lockedOpening() throws {
        let database = try TestDatabase()
        try database.open().close()
        try edit(database.path, "PRAGMA user_version = 1")
        let other = try SQLiteConnection(path: database.path, .readWrite, timeout: .seconds(1))
        try other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        #expect(throws: SQLStoreError.store(StoreFailure(.busy, code: "SQLITE_BUSY"))) {
            try database.open(timeout: .milliseconds(50))
        }
        withExtendedLifetime(other) {}
    }

    @Test("a read-only database refuses every decision, and can still be read")
    func readOnly() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.insertTicket(.sample(1))])
        try await store.committer.perform { writer throws(StoreFailure) in
            try writer.session.connection.execute("PRAGMA query_only = ON")
        }
        for change in [
            StoreChange.spendTicket(digest: TicketRow.sample(1).digest),
            .appendEvent(.sample(1)),
        ] {
            await #expect(throws: StoreFailure(.readOnly, code: "SQLITE_READONLY")) {
                try await store.commit([change])
            }
        }
        #expect(try store.ticket(digest: TicketRow.sample(1).digest) == .sample(1))
    }

    @Test("a damaged page is reported by calls that need it; other calls succeed")
    func damagedPage() async throws {
        let database = try TestDatabase()
        let first = try database.open()
        _ = try await first.commit([.insertCredential(.sample(1)), .insertTicket(.sample(1))])
        first.close()
        let root = try SQLiteConnection(path: database.path, .readWrite, timeout: .seconds(1))
            .number("SELECT rootpage FROM sqlite_schema WHERE name = 'credentials'")
        var bytes = try database.folder.bytes(of: "verifier.db")
        let page = (Int(root) - 1) * Schema.pageSize
        for index in page..<page + Schema.pageSize { bytes[index] = 0xff }
        try write(bytes, over: database.path)
        let store = try database.open()
        let damage = StoreFailure(.damaged, code: "SQLITE_CORRUPT")
        #expect(throws: damage) { try store.credential(.sample(1)) }
        await #expect(throws: damage) {
            try await store.commit([.updateCredential(.sample(1, version: 2))])
        }
        await #expect(throws: damage) {
            try await store.commit([
                .spendTicket(digest: TicketRow.sample(1).digest), .insertCredential(.sample(2)),
            ])
        }
        #expect(try store.ticket(digest: TicketRow.sample(1).digest) == .sample(1))
        #expect(
            try await store.commit([.spendTicket(digest: TicketRow.sample(1).digest)]) == .done)
        #expect(try store.audit().isSound == false)
    }

    @Test("a truncated file is refused")
    func cutShort() throws {
        let database = try TestDatabase()
        try database.open().close()
        let bytes = try database.folder.bytes(of: "verifier.db")
        for count in [Schema.pageSize, bytes.count - Schema.pageSize] {
            try write(Array(bytes.prefix(count)), over: database.path)
            #expect(throws: SQLStoreError.self) {
                let store = try database.open()
                #expect(try store.audit().isSound)
            }
        }
    }

    @Test("a deleted or moved file is detected, and no call returns its data")
    func fileGone() async throws {
        for isDeleted in [true, false] {
            let database = try TestDatabase()
            let store = try database.open()
            let gone = StoreFailure(.unavailable, code: "file-gone")
            _ = try await store.commit([.insertCredential(.sample(1)), .insertTicket(.sample(1))])
            if isDeleted {
                try removeFile(database.path)
            } else {
                try FileManager.default.moveItem(
                    atPath: database.path, toPath: database.path + ".moved")
            }
            await #expect(throws: gone) {
                try await store.commit([.spendTicket(digest: TicketRow.sample(1).digest)])
            }
            #expect(throws: gone) { try store.credential(.sample(1)) }
            // This is the query of the readiness check.
            #expect(throws: gone) { try store.events(after: UInt64(Int64.max), limit: 1) }
            // Reads on the readers' own connections also fail.
            async let held: Void = store.committer.perform { _ throws(StoreFailure) in
                #expect(throws: StoreFailure.self) { try store.credential(.sample(1)) }
            }
            try await held
            store.close()
        }
    }

    @Test("a row that cannot be decoded is reported as damaged")
    func invalidRow() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        for (number, change) in [
            "kind = 'strange'", "state = 'strange'", "subject = x'00'", "key_id = 0",
            "key_id = 4294967296", "version = -1",
        ].enumerated() {
            _ = try await store.commit([.insertCredential(.sample(number))])
            let id = CredentialID.sample(number).bytes.map { Hex.text([$0]) }.joined()
            try edit(database.path, "UPDATE credentials SET \(change) WHERE id = x'\(id)'")
            #expect(throws: StoreFailure(.damaged, code: "SQLITE_CORRUPT"), "\(change)") {
                try store.credential(.sample(number))
            }
        }
    }

    @Test(
        "on a full disk, commits fail but lose no data, and they succeed once there is space",
        .enabled(if: SmallDisk.canMount, "this machine cannot mount a small disk"))
    func fullDisk() async throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        let ballast = try disk.fill("ballast", count: 200_000)
        let store = try SQLiteVerificationStore(
            opening: disk.file("v.db"), key: StoreKeys.known.auditKey)
        let body = [UInt8](repeating: 7, count: 30_000)
        var done = 0
        let failure = await #expect(throws: StoreFailure.self) {
            while done < 100 {
                let row = CredentialRow.sample(done).next(body: body)
                let outcome = try await store.commit([
                    .insertCredential(row), .appendEvent(.sample(done)),
                ])
                #expect(outcome == .done)
                done += 1
            }
        }
        #expect(failure?.kind == .full)
        #expect(done > 0)
        for number in 0..<done { #expect(try store.credential(.sample(number)) != nil) }
        #expect(try store.credential(.sample(done)) == nil)
        try removeFile(ballast)
        let row = CredentialRow.sample(done).next(body: body)
        #expect(
            try await store.commit([.insertCredential(row), .appendEvent(.sample(done))]) == .done)
        #expect(try store.audit().findings == [])
        store.close()
    }

    // Overwrites the file in place, so that the file stays private to its owner.
    private func write(_ bytes: [UInt8], over path: String) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: bytes)
        try file.close()
    }
}
