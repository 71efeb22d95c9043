import Foundation
import SQLStore
import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// Edits to a copy of the database, and the findings of an audit.
struct AuditTests {
    static let edits: [(String, String)] = [
        ("the first event deleted", "DELETE FROM events WHERE position = 1"),
        ("one event deleted", "DELETE FROM events WHERE position = 4"),
        ("the last event deleted", "DELETE FROM events WHERE position = 10"),
        ("the tail cut off", "DELETE FROM events WHERE position > 6"),
        ("all deleted", "DELETE FROM events"),
        (
            "a body edited",
            "UPDATE events SET body = CAST(body || x'00' AS BLOB) WHERE position = 5"
        ),
        (
            "one byte of a body edited",
            "UPDATE events SET body = CAST(substr(body, 1, 20) || x'7f' || "
                + "substr(body, 22) AS BLOB) WHERE position = 5"
        ),
        ("a time edited", "UPDATE events SET time = time + 1 WHERE position = 5"),
        ("a digest edited", "UPDATE events SET digest = zeroblob(32) WHERE position = 5"),
        (
            "two events swapped",
            "UPDATE events SET position = 100 WHERE position = 3; "
                + "UPDATE events SET position = 3 WHERE position = 4; "
                + "UPDATE events SET position = 4 WHERE position = 100"
        ),
        (
            "two bodies swapped",
            "CREATE TEMP TABLE t AS SELECT position, body FROM events; "
                + "UPDATE events SET body = (SELECT body FROM t WHERE t.position = 7 - "
                + "events.position) WHERE position IN (3, 4)"
        ),
        (
            "an event duplicated",
            "INSERT INTO events SELECT 11, chain, 11, behind, time, body, digest FROM events "
                + "WHERE position = 5"
        ),
        ("events moved to another chain", "UPDATE events SET chain = 2 WHERE position > 8"),
        (
            "the tail cut off, and the recorded end adjusted without the key",
            "DELETE FROM events WHERE position > 6; UPDATE chains SET head_sequence = 6, "
                + "head_digest = (SELECT digest FROM events WHERE position = 6)"
        ),
        (
            "the beginning cut off, and the recorded start adjusted",
            "DELETE FROM events WHERE position < 4; UPDATE chains SET start_sequence = 3"
        ),
    ]

    @Test("V-30 an audit finds each edit to a copy of the database", arguments: edits)
    func edited(what: String, script: String) async throws {
        let database = try await filled()
        let copy = try copyAside(database)
        let key = database.keys.auditKey
        let sound = try SQLiteVerificationStore.audit(at: copy, key: key)
        #expect(sound.findings == [] && sound.events == 10 && sound.isSound)
        #expect(sound.marks.map(\.sequence) == [10])
        try edit(copy, script)
        #expect(try SQLiteVerificationStore.audit(at: copy, key: key).findings != [], "\(what)")
    }

    @Test("O-03 an audit finds erased events", arguments: StoreContract.erasures)
    func erased(what: String, script: String) async throws {
        let database = try await filled()
        let store = try database.open()
        let key = database.keys.auditKey
        let early = try #require(try store.events(after: 4, limit: 1).first)
        // The checkpoint that an audit reported when there were five events.
        let checkpoint = EventChain(
            resuming: ChainCheckpoint(
                node: early.node, sequence: 5, digest: early.digest, authentication: []),
            at: 5, key: key
        ).head()
        store.close()
        let copy = try copyAside(database)
        for checkpoints in [[], [checkpoint]] {
            #expect(
                try SQLiteVerificationStore.audit(at: copy, key: key, checkpoints: checkpoints)
                    .findings == [])
        }
        try edit(copy, script)
        for checkpoints in [[], [checkpoint]] {
            let report = try SQLiteVerificationStore.audit(
                at: copy, key: key, checkpoints: checkpoints)
            #expect(report.findings != [], "\(what) \(checkpoints.count)")
        }
    }

    @Test("O-03 only an authentic pruning record explains why a checkpoint's event is missing")
    func prunedCheckpoint() async throws {
        let database = try await filled()
        let store = try database.open()
        let early = try #require(try store.chains().last?.head)
        for number in 11...15 {
            _ = try await store.commit([.appendEvent(.sample(number, at: Int64(number)))])
        }
        _ = try await store.prune(Pruning(now: .at(100), eventsBefore: .at(13)))
        let start = try #require(try store.chains().last?.start)
        #expect(start.sequence == 12)
        #expect(start.pruning == PrunedEvents(before: .at(13), at: .at(100)))
        #expect(try store.audit(checkpoints: [early]).findings == [])
        try edit(database.path, "UPDATE chains SET pruned_before = pruned_before + 1")
        let findings = try store.audit(checkpoints: [early]).findings
        #expect(findings.contains(.checkpoint(node: early.node, sequence: 10)))
    }

    @Test(
        "a changed end position of a chain is reported as damage",
        arguments: ["0", "-1", "9", "11", "9223372036854775807", "3"])
    func editedPosition(position: String) async throws {
        let database = try await filled()
        let store = try database.open()
        try edit(database.path, "UPDATE chains SET head_position = \(position)")
        await #expect(throws: StoreFailure.self) {
            try await store.commit([.appendEvent(.sample(11))])
        }
        store.close()
        let failure = #expect(throws: SQLStoreError.self) { try database.open() }
        guard case .store(let failure)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(failure.kind == .damaged)
    }

    @Test("V-30 a database without a recorded chain end is reported as damaged")
    func noRecord() async throws {
        let database = try await filled()
        let copy = try copyAside(database)
        try edit(copy, "DELETE FROM chains")
        #expect(throws: SQLStoreError.store(StoreFailure(.damaged, code: "chain"))) {
            try SQLiteVerificationStore.audit(at: copy, key: StoreKeys.known.auditKey)
        }
    }

    @Test("V-30 an audit with a different key fails")
    func otherKey() async throws {
        let database = try await filled()
        let other = try KeyRing.make().auditKey
        #expect(
            try SQLiteVerificationStore.audit(at: copyAside(database), key: other).findings != [])
    }

    @Test("V-30 a checkpoint kept elsewhere reveals a rollback, and the database is not opened")
    func rolledBack() async throws {
        let database = try await filled()
        let old = try database.folder.bytes(of: "verifier.db")
        let store = try database.open()
        _ = try await store.commit([.appendEvent(.sample(11))])
        let mark = try #require(try store.chains().last?.head)
        store.close()
        #expect(ChainCheckpoint(text: mark.text) == mark)
        // The whole old file is restored; its recorded chain end is authentic by itself.
        try database.folder.write(old, to: "verifier.db")
        try setMode(0o600, of: database.path)
        try FileManager.default.moveItem(
            atPath: database.path + ".mark", toPath: database.path + ".aside")
        let key = database.keys.auditKey
        #expect(try SQLiteVerificationStore.audit(at: database.path, key: key).findings == [])
        #expect(
            try SQLiteVerificationStore.audit(at: database.path, key: key, checkpoints: [mark])
                .findings
                == [.checkpoint(node: mark.node, sequence: 11)])
        try FileManager.default.moveItem(
            atPath: database.path + ".aside", toPath: database.path + ".mark")
        #expect(throws: SQLStoreError.rolledBack) { try database.open() }
        try removeFile(database.path)
        #expect(throws: SQLStoreError.rolledBack) { try database.open() }
    }

    @Test("a damaged checkpoint is reported, and the checkpoint of a pruned event is accepted")
    func marks() async throws {
        let database = try await filled()
        let store = try database.open()
        _ = try await store.prune(Pruning(now: .at(0), eventsBefore: .at(9), limit: 3))
        for _ in 0..<3 {
            _ = try await store.prune(Pruning(now: .at(0), eventsBefore: .at(100), limit: 3))
        }
        store.close()
        try database.open().close()
        let mark = database.path + ".mark"
        let text = String(
            decoding: try database.folder.bytes(of: "verifier.db.mark"), as: UTF8.self)
        for spoiled in ["", text + "\n", String(text.dropLast()), text.uppercased()] {
            try database.folder.write(Array(spoiled.utf8), to: "verifier.db.mark")
            try setMode(0o600, of: mark)
            #expect(throws: SQLStoreError.damagedCheckpoint) { try database.open() }
        }
        let forged = text.replacing(" 10 ", with: " 9 ")
        #expect(forged != text)
        try database.folder.write(Array(forged.utf8), to: "verifier.db.mark")
        try setMode(0o600, of: mark)
        #expect(throws: SQLStoreError.damagedCheckpoint) { try database.open() }
    }

    @Test("a running store does not append to a chain whose end was moved back")
    func movedBack() async throws {
        let database = try await filled()
        let store = try database.open()
        let script = try marksAsScript(store)
        _ = try await store.commit([.appendEvent(.sample(11)), .insertTicket(.sample(1))])
        // The chain end is authentic, but older than the one that this process wrote.
        try edit(database.path, "DELETE FROM events WHERE position = 11; " + script)
        await #expect(throws: StoreFailure(.damaged, code: "chain")) {
            try await store.commit([.spendTicket(digest: TicketRow.sample(1).digest)])
        }
        // The chain end is not older, but not authentic.
        try edit(database.path, "UPDATE chains SET head_sequence = 20, head_position = 20")
        await #expect(throws: StoreFailure(.damaged, code: "chain")) {
            try await store.commit([.appendEvent(.sample(12))])
        }
    }

    @Test("an audit reads one snapshot while other processes append")
    func whileWriting() async throws {
        let database = try await filled()
        let store = try database.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    _ = try await store.commit([.appendEvent(.sample(index))])
                    #expect(try store.audit().findings == [])
                }
            }
            try await group.waitForAll()
        }
        try store.saveCheckpoint()
        #expect(try store.audit().events == 50)
    }

    private func filled() async throws -> TestDatabase {
        let database = try TestDatabase()
        let store = try database.open()
        for number in 1...10 {
            _ = try await store.commit([.appendEvent(.sample(number, at: Int64(number)))])
        }
        store.close()
        return database
    }

    private func copyAside(_ database: TestDatabase) throws -> String {
        let copy = database.folder.file("copy.db")
        try FileManager.default.copyItem(atPath: database.path, toPath: copy)
        return copy
    }

    private func marksAsScript(_ store: SQLiteVerificationStore) throws -> String {
        let head = try #require(try store.chains().last?.head)
        return "UPDATE chains SET head_sequence = \(head.sequence), head_position = "
            + "\(head.sequence), head_digest = x'\(Hex.text(head.digest))', "
            + "head_authentication = x'\(Hex.text(head.authentication))'"
    }
}
