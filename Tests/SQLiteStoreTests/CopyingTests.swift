import OneTimePassword
import SQLStore
import StoreContract
import Synchronization
import TestSupport
import Testing
import Verification
import WatchwordCryptography
import WatchwordSystem

@testable import SQLiteStore

/// Backups that are made during writes, and restores that accept no spent code again.
struct CopyingTests {
    static let start = UnixTime(seconds: 1_795_000_000)

    @Test("a backup made during writes is one complete file with one snapshot")
    func consistent() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    _ = try await store.commit([
                        .insertCredential(.sample(index)), .appendEvent(.sample(index)),
                    ])
                }
            }
            for index in 0..<5 {
                let path = database.folder.file("backup\(index).db")
                try store.backUp(to: path, now: .at(0))
                #expect(try mode(of: path) == 0o600)
                let copy = SQLiteSession(
                    try SQLiteConnection(path: path, .readOnly, timeout: .zero))
                let rows = try copy.connection.number("SELECT count(*) FROM credentials")
                let events = try copy.connection.number("SELECT count(*) FROM events")
                #expect(rows == events)
                let report = try SQLiteVerificationStore.audit(
                    at: path, key: database.keys.auditKey)
                #expect(report.findings == [])
                #expect(report.isSound)
            }
            try await group.waitForAll()
        }
        #expect(
            try names(in: database.folder.path).filter { $0.hasPrefix("backup") }
                == (0..<5).map { "backup\($0).db" })
    }

    @Test("a backup cannot be opened as a database; backups and restores overwrite no target")
    func refused() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        let path = database.folder.file("backup.db")
        try database.folder.write([1], to: "backup.db")
        #expect(throws: SQLStoreError.exists) { try store.backUp(to: path, now: .at(0)) }
        #expect(try database.folder.bytes(of: "backup.db") == [1])
        try removeFile(path)
        // The leftovers of a killed backup do not prevent the next one.
        try database.folder.write([1], to: "backup.db.new")
        try setMode(0o600, of: path + ".new")
        try store.backUp(to: path, now: .at(0))
        let before = try database.folder.bytes(of: "backup.db")
        #expect(throws: SQLStoreError.isBackup) {
            try SQLiteVerificationStore(opening: path, key: database.keys.auditKey)
        }
        #expect(try database.folder.bytes(of: "backup.db") == before)
        // A restore overwrites neither a database nor files left beside a database.
        for name in ["verifier.db", "other.db-wal"] {
            if name == "other.db-wal" { try database.folder.write([1], to: name) }
            let target = database.folder.file(name.replacing("-wal", with: ""))
            #expect(throws: SQLStoreError.exists) {
                try database.restore(path, to: target, .init(now: .at(0)))
            }
        }
    }

    @Test("T-10 N-18 a restored copy accepts nothing that may have been spent since the backup")
    func restored() async throws {
        let database = try TestDatabase()
        let key = database.keys.auditKey
        let clock = Moment(Self.start)
        let store = try database.open()
        let verifier = Verifier(store: store, keys: database.keys, clock: { clock.now })
        let alice = Subject.sample("alice")
        let (totp, generator) = try await enrolTOTP(verifier, alice, clock)
        guard case .granted(let recovery) = try await verifier.enrolRecoveryCodes(for: alice)
        else { throw CopyingError.refused }
        _ = try await store.commit([
            .insertTicket(.sample(1)), .insertChallenge(.sample(1)), .insertAnswer(.sample(1)),
            .insertClient(.sample(1)),
        ])
        let backup = database.folder.file("backup.db")
        try store.backUp(to: backup, now: clock.now)
        let last = try #require(try store.events(after: 0, limit: 1_000).last)

        // These codes are spent after the backup.
        clock.advance(seconds: 600)
        let spent = try code(generator, clock.now)
        let lookUp = try presented(recovery.codes[0])
        for code in [spent, lookUp] {
            #expect(isAccepted(try await verifier.verify(code, subject: alice)))
        }
        store.close()

        let other = database.folder.file("restored.db")
        let report = try database.restore(backup, to: other, .init(now: clock.now))
        #expect(
            report
                == RestoreReport(
                    backedUpAt: Self.start.adding(seconds: 30), kept: 1, ended: 1,
                    clientsRevoked: 1))
        let renewed = try SQLiteVerificationStore(opening: other, key: key)
        let again = Verifier(store: renewed, keys: database.keys, clock: { clock.now })
        for code in try [spent, lookUp, presented(recovery.codes[1])] {
            #expect(!isAccepted(try await again.verify(code, subject: alice)))
        }
        #expect(try renewed.credential(recovery.credential)?.state == .revoked)
        #expect(try renewed.credential(totp)?.state == .active)
        #expect(try renewed.ticket(digest: TicketRow.sample(1).digest) == nil)
        #expect(try renewed.challenge(digest: ChallengeRow.sample(1).digest) == nil)
        #expect(try renewed.answer(key: AnswerRow.sample(1).key) == nil)
        #expect(try renewed.clients().map(\.revokedAt) == [clock.now])
        // Later codes are accepted.
        clock.advance(seconds: 3_600)
        #expect(isAccepted(try await again.verify(code(generator, clock.now), subject: alice)))

        // The old events remain, and the new events are in a separate chain at much later
        // positions.
        #expect(try renewed.chains().count == 2)
        #expect(try renewed.audit().findings == [])
        let events = try renewed.events(after: 0, limit: 1_000)
        #expect(events.contains(last))
        let later = events.filter { $0.node != last.node }
        #expect(later.contains { $0.event?.kind == .restored && $0.event?.number == 1 })
        #expect(later.allSatisfy { $0.position > last.position + 1_000_000 })
    }

    @Test("a database restored in place of a lost one opens, with or without the old checkpoint")
    func inPlace() async throws {
        let database = try TestDatabase()
        let key = database.keys.auditKey
        let store = try database.open()
        let backup = database.folder.file("backup.db")
        _ = try await store.commit([.insertClient(.sample(1)), .appendEvent(.sample(1))])
        try store.backUp(to: backup, now: .at(0))
        _ = try await store.commit([.appendEvent(.sample(2))])
        store.close()
        try removeFile(database.path)
        let report = try database.restore(
            backup, to: database.path, .init(now: .at(1), keepsClients: true))
        #expect(report.clientsRevoked == 0)
        let renewed = try database.open()
        #expect(try renewed.clients() == [.sample(1)])
        #expect(try renewed.audit().findings == [])
        renewed.close()
        // A backup of the restored database can be restored in turn.
        let second = database.folder.file("second.db")
        try database.open().backUp(to: second, now: .at(2))
        let third = database.folder.file("third.db")
        try database.restore(second, to: third, .init(now: .at(3)))
        #expect(try SQLiteVerificationStore(opening: third, key: key).chains().count == 3)
    }

    @Test("a store that is still open does not undo a restore")
    func openDuringRestore() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        let backup = database.folder.file("backup.db")
        try store.backUp(to: backup, now: .at(0))
        _ = try await store.commit([.appendEvent(.sample(1)), .appendEvent(.sample(2))])
        for ending in ["", "-wal", "-shm", ".mark"] { try removeFile(database.path + ending) }
        try database.restore(backup, to: database.path, .init(now: .at(1)))
        #expect(throws: SQLStoreError.store(.moved)) { try store.saveCheckpoint() }
        store.close()
        try database.open().close()
    }

    @Test("T-10 O-07 a restore refuses a clock behind the backup or its newest event")
    func clockBehind() async throws {
        let database = try TestDatabase()
        let key = database.keys.auditKey
        let store = try database.open()
        for time: Int64 in [50, 100] {
            _ = try await store.commit([.appendEvent(.sample(1, at: time))])
        }
        let backup = database.folder.file("backup.db")
        let late = database.folder.file("late.db")
        try store.backUp(to: backup, now: .at(80))
        try store.backUp(to: late, now: .at(200))
        let target = database.folder.file("target.db")
        for (path, newest) in [(backup, UnixTime.at(100)), (late, .at(200))] {
            #expect(throws: SQLStoreError.clockBehind(newest)) {
                try database.restore(path, to: target, .init(now: newest.adding(milliseconds: -1)))
            }
            #expect(try !names(in: database.folder.path).contains { $0.hasPrefix("target") })
        }
        // If the operator vouches for the clock, all codes up to the newest time are refused.
        try database.restore(late, to: target, .init(now: .at(0), trustsClock: true))
        let restored = try SQLiteVerificationStore(opening: target, key: key)
        #expect(try restored.events(after: 2, limit: 9).compactMap(\.event?.time) == [.at(200)])
        let other = database.folder.file("other.db")
        try database.restore(backup, to: other, .init(now: .at(100)))
    }

    @Test("O-01 O-07 the times recorded in a backup are authenticated")
    func timesOfBackup() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.appendEvent(.sample(1, at: 50))])
        let early = database.folder.file("early.db")
        try store.backUp(to: early, now: .at(60))
        _ = try await store.commit([.appendEvent(.sample(2, at: 100))])
        let backup = database.folder.file("backup.db")
        try store.backUp(to: backup, now: .at(200))
        let pristine = try database.folder.bytes(of: "backup.db")
        let edits = [
            "UPDATE settings SET value = 0", "UPDATE settings SET value = value + 1",
            "UPDATE settings SET authentication = x''",
            "ATTACH '\(early)' AS early; DELETE FROM settings; "
                + "INSERT INTO settings SELECT * FROM early.settings",
            "UPDATE events SET body = (SELECT body FROM events WHERE position = 1)",
            "UPDATE events SET time = 0, body = zeroblob(3) WHERE position = 2",
            "DELETE FROM events WHERE position = 2",
            "UPDATE chains SET head_position = 1",
        ]
        let target = database.folder.file("target.db")
        for script in edits {
            try edit(backup, script)
            let thrown = #expect(throws: SQLStoreError.self, "\(script)") {
                try database.restore(backup, to: target, .init(now: .at(300)))
            }
            guard case .store(let failure)? = thrown else {
                Issue.record("\(script)")
                continue
            }
            #expect(failure.kind == .damaged, "\(script)")
            try removeFile(backup)
            try database.folder.write(pristine, to: "backup.db")
            try setMode(0o600, of: backup)
        }
        try database.restore(backup, to: target, .init(now: .at(300)))
    }

    @Test(
        "a restore refuses a wrong key, an unrelated file and a damaged backup, and creates no file"
    )
    func unusable() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.insertCredential(.sample(1)), .appendEvent(.sample(1))])
        let backup = database.folder.file("backup.db")
        try store.backUp(to: backup, now: .at(0))
        let target = database.folder.file("target.db")
        func restore(_ path: String, _ key: AuditKey) throws -> RestoreReport {
            try SQLiteVerificationStore.restore(
                from: path, to: target, key: key, RestoreOptions(now: .at(0)))
        }
        #expect(throws: SQLStoreError.store(StoreFailure(.damaged, code: "chain"))) {
            try restore(backup, KeyRing.make().auditKey)
        }
        // The verifier cannot decode the sample row's body.
        #expect(throws: SQLStoreError.store(StoreFailure(.damaged, code: "row"))) {
            try restore(backup, database.keys.auditKey)
        }
        let text = try database.folder.write([1, 2, 3], to: "text.db")
        try setMode(0o600, of: text)
        #expect(throws: SQLStoreError.foreignFile) { try restore(text, database.keys.auditKey) }
        #expect(throws: SQLStoreError.notPrivate(.missing)) {
            try restore(database.folder.file("none.db"), database.keys.auditKey)
        }
        #expect(!(try names(in: database.folder.path).contains("target.db")))
    }

    /// Enrols a credential, confirms it with the first time step's code, and moves the clock to the
    /// next step.
    private func enrolTOTP(
        _ verifier: Verifier, _ subject: Subject, _ clock: Moment
    ) async throws -> (CredentialID, OneTimePassword.Credential) {
        let enrolment = try OneTimePasswordEnrolment(
            issuer: "Watchword", account: "alice", factor: .time(period: 30))
        guard
            case .granted(let grant) = try await verifier.enrolOneTimePassword(
                enrolment, for: subject)
        else { throw CopyingError.refused }
        let entry = try grant.uri.withBytes { uri in
            try KeyURI(parsing: uri, reading: .strict).credential
        }
        let outcome = try await verifier.confirm(
            grant.credential, code: code(entry, clock.now))
        #expect(isAccepted(outcome))
        clock.advance(seconds: 30)
        return (grant.credential, entry)
    }

    private func code(_ entry: OneTimePassword.Credential, _ now: UnixTime) throws
        -> PresentedCode
    {
        let step = try entry.step(atUnixTime: now.seconds)
        let text = Array(entry.generator().code(at: step).text.utf8)
        return try PresentedCode(text.span)
    }

    private func presented(_ code: SecretBytes) throws -> PresentedCode {
        try PresentedCode(code)
    }

    private func isAccepted(_ outcome: VerificationOutcome) -> Bool {
        if case .accepted = outcome.result { true } else { false }
    }
}

enum CopyingError: Error { case refused }

/// The clock that a test sets.
private final class Moment: Sendable {
    private let milliseconds: Atomic<Int64>

    init(_ start: UnixTime) { milliseconds = Atomic(start.milliseconds) }

    var now: UnixTime { UnixTime(milliseconds: milliseconds.load(ordering: .relaxed)) }

    func advance(seconds: Int64) { milliseconds.add(1_000 * seconds, ordering: .relaxed) }
}
