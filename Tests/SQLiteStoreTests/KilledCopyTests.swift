import Foundation
import OneTimePassword
import SQLStore
import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// Kills backups and restores at each system call.
@Suite(.enabled(if: Strace.canTrace, "strace is missing, or may not trace here"))
struct KilledCopyTests {
    /// The system calls that change or rename files.
    static let calls = KilledDecisionTests.writing + ["write", "unlinkat", "fchmod"]

    @Test(
        "a killed backup leaves a complete copy or none, and an unchanged database",
        arguments: calls)
    func backup(call: String) async throws {
        let strace = try #require(Strace())
        let origin = try await Origin()
        var database = try TestDatabase()
        var exists: Set<Bool> = []
        _ = try strace.killAtEach(call) {
            database = try origin.copied("verifier.db", "verifier.db.mark")
            return database.command("backup", 0, 0)
        } check: { outcome in
            let copy = "\(database.path).copy"
            let isMade = FileManager.default.fileExists(atPath: copy)
            exists.insert(isMade)
            if outcome.text == "done\n" { #expect(isMade) }
            if isMade { try origin.expectCopy(copy) }
            // The next backup succeeds despite the leftovers of the killed backup.
            if !isMade {
                let again = try ForeignProgram(path: BuiltProgram.path("store-writer"))
                    .run(Array(database.command("backup", 0, 0).dropFirst()))
                #expect(again.text == "done\n")
                try origin.expectCopy(copy)
            }
            let store = try database.open()
            #expect(try store.ticket(digest: TicketRow.sample(1).digest) == .sample(1))
            #expect(try store.audit().isSound)
        }
        #expect(exists == (call == "pwrite64" ? [true, false] : exists.union([true])))
    }

    @Test(
        "a killed restore leaves no database that accepts spent codes",
        arguments: calls, [true, false])
    func restore(call: String, hasOldMark: Bool) async throws {
        let strace = try #require(Strace())
        let origin = try await Origin()
        var database = try TestDatabase()
        var exists: Set<Bool> = []
        _ = try strace.killAtEach(call) {
            database = try origin.copied(
                "verifier.db.copy", hasOldMark ? "verifier.db.mark" : nil)
            return database.command("restore", 0, 0)
        } check: { outcome in
            let isMade = FileManager.default.fileExists(atPath: database.path)
            exists.insert(isMade)
            if outcome.text == "done\n" { #expect(isMade) }
            if !isMade {
                // An empty database is created only if no database existed before.
                if hasOldMark {
                    #expect(throws: SQLStoreError.rolledBack) { try database.open() }
                }
                let again = try ForeignProgram(path: BuiltProgram.path("store-writer"))
                    .run(Array(database.command("restore", 0, 0).dropFirst()))
                #expect(again.text == "done\n")
            }
            try origin.expectRenewed(database)
        }
        #expect(exists == (call == "pwrite64" ? [true, false] : exists.union([true])))
    }
}

/// A database with one row of each kind, and its backup.
private struct Origin {
    private let database: TestDatabase
    private let recovery: CredentialID

    init() async throws {
        let made = try TestDatabase()
        let store = try made.open()
        let verifier = Verifier(store: store, keys: made.keys, clock: { .at(0) })
        let alice = Subject.sample("alice")
        guard case .granted(let grant) = try await verifier.enrolRecoveryCodes(for: alice) else {
            throw CopyingError.refused
        }
        _ = try await store.commit([
            .insertTicket(.sample(1)), .insertChallenge(.sample(1)), .insertAnswer(.sample(1)),
            .insertClient(.sample(1)),
        ])
        try store.backUp(to: "\(made.path).copy", now: .at(0))
        store.close()
        database = made
        recovery = grant.credential
    }

    /// Copies these files to a new folder.
    func copied(_ names: String?...) throws -> TestDatabase {
        let copy = try TestDatabase()
        for name in names.compactMap({ $0 }) {
            try copy.folder.write(database.folder.bytes(of: name), to: name)
            try setMode(0o600, of: copy.folder.file(name))
        }
        return copy
    }

    /// Expects a complete copy that passes the integrity check, cannot be opened as a database, and
    /// can be restored.
    func expectCopy(_ path: String) throws {
        let key = database.keys.auditKey
        let report = try SQLiteVerificationStore.audit(at: path, key: key)
        #expect(report.findings == [])
        #expect(report.isSound)
        #expect(throws: SQLStoreError.isBackup) {
            try SQLiteVerificationStore(opening: path, key: key)
        }
        let restored = try TestDatabase()
        _ = try SQLiteVerificationStore.restore(
            from: path, to: restored.path, key: key, RestoreOptions(now: .at(100)))
        try expectRenewed(restored)
    }

    /// Expects a database without codes that may have been spent since the backup.
    func expectRenewed(_ database: TestDatabase) throws {
        let store = try database.open()
        #expect(try store.credential(recovery)?.state == .revoked)
        #expect(try store.ticket(digest: TicketRow.sample(1).digest) == nil)
        #expect(try store.challenge(digest: ChallengeRow.sample(1).digest) == nil)
        #expect(try store.answer(key: AnswerRow.sample(1).key) == nil)
        #expect(try store.clients().map(\.revokedAt) == [.at(100)])
        #expect(try store.events(after: 0, limit: 100).contains { $0.event?.kind == .restored })
        #expect(try store.chains().count == 2)
        let report = try store.audit()
        #expect(report.findings == [])
        #expect(report.isSound)
    }
}
