import PostgreSQLServer
import SQLStore
import StoreContract
import TestSupport
import Testing
import Verification
import WatchwordCryptography

@testable import PostgreSQLStore

/// A database that was rolled back to an earlier state is detected, refused and recovered.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct RollbackTests {
    private static let tables = [
        "events", "chains", "counter", "tickets", "challenges", "clients",
    ]

    /// Copies the current tables; ``restoreTables(_:)`` restores them.
    private func keep(_ database: TestDatabase) throws {
        for table in Self.tables {
            try database.query("CREATE TABLE kept_\(table) AS TABLE watchword.\(table)")
        }
    }

    private func restoreTables(_ database: TestDatabase) throws {
        for table in Self.tables {
            let values = table == "chains" ? "OVERRIDING SYSTEM VALUE" : ""
            try database.query(
                "DELETE FROM watchword.\(table); "
                    + "INSERT INTO watchword.\(table) \(values) TABLE kept_\(table)")
        }
    }

    @Test("stores with later chain ends refuse a rolled-back database until its recovery")
    func settled() async throws {
        let database = try TestDatabase()
        let address = try #require(PostgreSQLAddress(database.url))
        let key = database.keys.auditKey
        let store = try database.open()
        _ = try await store.commit([
            .insertTicket(.sample(1)), .insertChallenge(.sample(1)), .insertClient(.sample(1)),
            .appendEvent(.sample(1)),
        ])
        try keep(database)
        _ = try await store.commit([
            .spendTicket(digest: TicketRow.sample(1).digest),
            .spendChallenge(digest: ChallengeRow.sample(1).digest), .appendEvent(.sample(2)),
        ])
        let ends = store.ends
        #expect(ends.map(\.position) == [2])
        try restoreTables(database)
        // A connected store detects the rollback at its next commit, and other stores when they
        // connect.
        await #expect(throws: StoreFailure(.damaged, code: "behind")) {
            try await store.commit([.appendEvent(.sample(3))])
        }
        await #expect(throws: StoreFailure(.damaged, code: "behind")) {
            try await store.ticket(digest: TicketRow.sample(1).digest)
        }
        store.close()
        #expect(throws: SQLStoreError.rolledBack) {
            try PostgreSQLVerificationStore(connecting: address, key: key, known: ends)
        }
        let (report, end) = try database.settle(.init(now: .at(100)))
        #expect(report == RestoreReport(kept: 0, ended: 0, clientsRevoked: 1))
        let later = try PostgreSQLVerificationStore(connecting: address, key: key, known: [end])
        #expect(try await later.ticket(digest: TicketRow.sample(1).digest) == nil)
        #expect(try await later.challenge(digest: ChallengeRow.sample(1).digest) == nil)
        #expect(try await later.clients().allSatisfy { $0.revokedAt == .at(100) })
        #expect(try await later.commit([.appendEvent(.sample(4))]) == .done)
        let events = try await later.events(after: 0, limit: 10)
        #expect(
            events.compactMap(\.event?.kind) == [.accepted, .clientRevoked, .restored, .accepted])
        // A client that had read the lost events never gets an old position.
        #expect(events[1].position > 1_000_000_000)
        #expect(try database.audit().isWhole(events: 4))
    }

    @Test("N-39 recovery ends credentials known to have ended, and deletes recorded responses")
    func ended() async throws {
        let database = try TestDatabase()
        let address = try #require(PostgreSQLAddress(database.url))
        let key = database.keys.auditKey
        let store = try database.open()
        let verifier = Verifier(store: store, keys: database.keys, clock: { .at(0) })
        var ids: [CredentialID] = []
        for letter in ["a", "b"] {
            let given = try OneTimePasswordImport(
                key: SecretBytes(text: String(repeating: letter, count: 20)),
                factor: .time(period: 30, lastUsedStep: nil), isConfirmed: true)
            let outcome = try await verifier.importOneTimePassword(given, for: .sample("alice"))
            guard case .imported(let id, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            ids.append(id)
        }
        _ = try await store.commit([.insertAnswer(.sample(1))])
        store.close()
        let (report, end) = try database.settle(.init(now: .at(100), ended: [ids[1]]))
        #expect(report == RestoreReport(kept: 1, ended: 1, clientsRevoked: 0))
        let later = try PostgreSQLVerificationStore(connecting: address, key: key, known: [end])
        #expect(try await later.credential(ids[0])?.state == .active)
        #expect(try await later.credential(ids[1])?.state == .revoked)
        #expect(try await later.answer(key: AnswerRow.sample(1).key) == nil)
    }

    @Test("T-10 O-07 recovery refuses a clock behind the newest event")
    func clockBehind() async throws {
        let database = try TestDatabase()
        let address = try #require(PostgreSQLAddress(database.url))
        let key = database.keys.auditKey
        let store = try database.open()
        _ = try await store.commit([.insertTicket(.sample(1)), .appendEvent(.sample(1, at: 100))])
        _ = try await store.commit([.appendEvent(.sample(2, at: 90))])
        _ = try await store.commit([.appendEvent(.sample(3, at: 110))])
        store.close()
        #expect(throws: SQLStoreError.clockBehind(.at(110))) {
            try database.settle(.init(now: .at(109)))
        }
        let digest = TicketRow.sample(1).digest
        let untouched = try database.open()
        #expect(try await untouched.ticket(digest: digest) == .sample(1))
        untouched.close()
        // Even with an older event in place of the newest, a wrong clock is not accepted.
        try database.query("CREATE TABLE kept AS TABLE watchword.events")
        let body = "(SELECT body FROM kept WHERE position = 2)"
        for edit in [
            "UPDATE watchword.events SET body = \(body) WHERE position = 3",
            "DELETE FROM watchword.events WHERE position = 3",
        ] {
            try database.query(edit)
            #expect(throws: SQLStoreError.store(StoreFailure(.damaged, code: "chain"))) {
                try database.settle(.init(now: .at(109)))
            }
            try database.query(
                "DELETE FROM watchword.events; INSERT INTO watchword.events TABLE kept")
        }
        // If the operator vouches for the clock, all codes up to the newest event are refused.
        let (_, end) = try database.settle(.init(now: .at(0), trustsClock: true))
        let settled = try PostgreSQLVerificationStore(connecting: address, key: key, known: [end])
        #expect(try await settled.ticket(digest: digest) == nil)
        #expect(
            try await settled.events(after: 3, limit: 9).compactMap(\.event?.time) == [.at(110)])
    }

    @Test("a chain with a different event in place of an acknowledged event is refused")
    func forked() async throws {
        let database = try TestDatabase()
        let address = try #require(PostgreSQLAddress(database.url))
        let store = try database.open()
        _ = try await store.commit([.appendEvent(.sample(1))])
        try keep(database)
        _ = try await store.commit([.appendEvent(.sample(2))])
        let ends = store.ends
        store.close()
        try restoreTables(database)
        // A second store continues the chain from its rolled-back end, beyond the first store's
        // end.
        let stranger = try database.open()
        for number in 3...5 { _ = try await stranger.commit([.appendEvent(.sample(number))]) }
        #expect(stranger.ends.map(\.mark.node) == ends.map(\.mark.node))
        #expect(throws: SQLStoreError.rolledBack) {
            try PostgreSQLVerificationStore(
                connecting: address, key: database.keys.auditKey, known: ends)
        }
        // A chain that continues from the known end is accepted.
        let known = stranger.ends
        _ = try await stranger.commit([.appendEvent(.sample(6))])
        try PostgreSQLVerificationStore(
            connecting: address, key: database.keys.auditKey, known: known
        ).close()
    }

    @Test("a stored chain end that is not authentic is refused")
    func forgedCheckpoint() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.appendEvent(.sample(1))])
        let end = try #require(store.ends.first)
        let forged = AcknowledgedCheckpoint(
            mark: ChainCheckpoint(
                node: end.mark.node, sequence: 0, digest: end.mark.digest,
                authentication: end.mark.authentication), position: 1)
        let address = try #require(PostgreSQLAddress(database.url))
        #expect(throws: SQLStoreError.forgedCheckpoint) {
            try PostgreSQLVerificationStore(
                connecting: address, key: database.keys.auditKey, known: [forged])
        }
    }
}
