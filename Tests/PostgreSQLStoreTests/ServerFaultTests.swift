import Foundation
import PostgreSQLServer
import PostgreSQLStore
import StoreContract
import TestSupport
import Testing
import Verification

/// A database that is killed, restarted, replaced or locked under load: no use is accepted twice,
/// no acknowledged decision is lost, and the stores recover on their own.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"), .serialized)
struct ServerFaultTests {
    private static let connections = PostgreSQLVerificationStore.Connections(reading: 1, writing: 3)

    @Test("T-10 nothing is accepted twice when a database is killed and restarted under load")
    func restarted() async throws {
        let server = try await onOwnThread { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: server)
        let ledger = try await Ledger([open(database), open(database)])
        try await ledger.run(callers: 6) {
            for end in [server.kill9, server.kill9, server.stop] {
                try await ledger.awaitProgress(150)
                try await onOwnThread { try end() }
                try await ledger.awaitFailures(24)
                try await onOwnThread { try server.launch() }
            }
            try await ledger.awaitProgress(150)
        }
        // The database was stopped or starting; other failures must not occur.
        #expect(ledger.kinds.isSubset(of: [.unavailable, .busy]), "\(ledger.failures)")
        try await ledger.expectKept(in: open(database), key: database.keys.auditKey)
    }

    @Test("idle connections that the server has closed are replaced before the next call")
    func closed() async throws {
        let server = try await onOwnThread { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: server)
        let store = try database.open()
        let sessions = "FROM pg_stat_activity WHERE usename = 'watchword'"
        func decide(_ number: Int) async throws {
            #expect(try await store.commit([.insertCredential(.sample(number))]) == .done)
            #expect(try await store.credential(.sample(number)) == .sample(number))
        }
        try await decide(1)
        _ = try await onOwnThread {
            try server.query("SELECT pg_terminate_backend(pid, 60000) \(sessions)")
        }
        try await decide(2)
        try await onOwnThread { try server.restart() }
        try await decide(3)
        // After the crash of a process, the server closes all connections without an error.
        try await onOwnThread {
            let writer = try server.query(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")
            kill(try #require(Int32(writer)), SIGKILL)
            while (try? server.query("SELECT count(*) \(sessions)")) != "0" {}
        }
        try await decide(4)
        #expect(try database.audit().findings == [])
    }

    @Test("nothing is lost when a synchronous standby replaces the primary under load")
    func synchronous() async throws {
        let primary = try await onOwnThread { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: primary)
        let standby = try await onOwnThread { try primary.addStandby(isSynchronous: true) }
        let url = PostgreSQLServer.url(database.name, of: [primary, standby])
        let stores = [try open(database, url), try open(database, url)]
        let ledger = try await Ledger(stores)
        try await ledger.run(callers: 6) {
            try await ledger.awaitProgress(150)
            try await onOwnThread { try primary.kill9() }
            try await ledger.awaitFailures(24)
            try await onOwnThread { try standby.promote() }
            try await ledger.awaitProgress(150)
        }
        #expect(ledger.kinds.isSubset(of: [.unavailable, .busy]), "\(ledger.failures)")
        try await ledger.expectKept(
            in: open(database, standby.url(database.name)), key: database.keys.auditKey)
    }

    @Test(
        "a commit that the standby lacks is not acknowledged, even with synchronous_commit off")
    func withheld() async throws {
        let primary = try await onOwnThread {
            try PostgreSQLServer.start(settings: ["synchronous_commit": "off"])
        }
        let database = try TestDatabase(on: primary)
        let standby = try await onOwnThread { try primary.addStandby(isSynchronous: true) }
        let url = PostgreSQLServer.url(database.name, of: [primary, standby])
        let store = try open(database, url)
        let spending = StoreChange.spendTicket(digest: TicketRow.sample(1).digest)
        #expect(try await store.commit([.insertTicket(.sample(1))]) == .done)
        try await onOwnThread { try primary.withholdReplication() }
        let failure = await #expect(throws: StoreFailure.self) {
            try await store.commit([spending, .appendEvent(.sample(1))])
        }
        #expect(failure?.kind == .unavailable)
        try await onOwnThread {
            try primary.kill9()
            try standby.promote()
        }
        // The spend was never acknowledged, so no acknowledged event is missing.
        #expect(
            try await eventually { () throws(StoreFailure) in
                try await store.commit([spending, .appendEvent(.sample(2))])
            } == .done)
        #expect(try await store.events(after: 0, limit: 9).compactMap { $0.event?.number } == [2])
    }

    @Test("a stalled synchronous standby blocks few connections, and they recover with it")
    func silentStandby() async throws {
        let primary = try await onOwnThread { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: primary)
        let standby = try await onOwnThread { try primary.addStandby(isSynchronous: true) }
        let store = try database.open(timeout: .seconds(2))
        let chains = try await store.chains().count
        try await onOwnThread { try primary.withholdReplication() }
        for _ in 0..<8 {
            let failure = await #expect(throws: StoreFailure.self) {
                try await store.commit([.appendEvent(.sample(1))])
            }
            #expect(failure?.kind == .unavailable)
        }
        // Only the connection that detected the delay waits.
        let waiting = try await onOwnThread {
            try primary.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        }
        #expect(waiting == "1")
        try await onOwnThread { try primary.resumeReplication() }
        #expect(
            try await eventually { () throws(StoreFailure) in
                try await store.commit([.appendEvent(.sample(2))])
            } == .done)
        // If the blocked connection has not yet released its chain, a new chain has begun.
        #expect(try await store.chains().count <= chains + 1)
        withExtendedLifetime(standby) {}
    }

    @Test("a store refuses an asynchronous standby that lacks the store's acknowledged events")
    func asynchronous() async throws {
        let primary = try await onOwnThread { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: primary)
        let standby = try await onOwnThread { try primary.addStandby(isSynchronous: false) }
        let url = PostgreSQLServer.url(database.name, of: [primary, standby])
        let witness = try open(database, url)
        let stranger = try open(database, url)
        let digest = TicketRow.sample(1).digest
        #expect(try await witness.commit([.insertTicket(.sample(1))]) == .done)
        #expect(try await stranger.commit([.appendEvent(.sample(1))]) == .done)
        #expect(try await witness.commit([.appendEvent(.sample(2))]) == .done)
        try await onOwnThread {
            let position = try primary.query("SELECT pg_current_wal_lsn()")
            try standby.awaitReplay(of: position)
            try primary.withholdReplication()
        }
        // The event was acknowledged, but is stored only on the old primary.
        #expect(
            try await witness.commit([.spendTicket(digest: digest), .appendEvent(.sample(3))])
                == .done)
        try await onOwnThread {
            try primary.kill9()
            try standby.promote()
        }
        // The store that got the acknowledgement refuses the standby, permanently.
        for _ in 0..<3 {
            try await expectDamaged(witness, digest)
        }
        // A store that received no lost acknowledgement cannot detect the loss, and spends the
        // ticket.
        #expect(
            try await eventually { () throws(StoreFailure) in
                try await stranger.commit([.spendTicket(digest: digest), .appendEvent(.sample(4))])
            } == .done)
        try await expectDamaged(witness, digest)
    }

    @Test("a read-only database refuses every decision, and can still be read")
    func readOnly() async throws {
        let server = try await onOwnThread { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: server)
        let store = try database.open()
        #expect(try await store.commit([.insertTicket(.sample(1))]) == .done)
        let spending = StoreChange.spendTicket(digest: TicketRow.sample(1).digest)
        // A new connection would search for a writable server.
        #expect(try await store.ticket(digest: TicketRow.sample(1).digest) == .sample(1))
        try await readOnly(true, server)
        // The connection that commits detects this a moment later.
        let end = ContinuousClock.now + .seconds(60)
        while try await isWritten(store), ContinuousClock.now < end {}
        await #expect(throws: StoreFailure(.readOnly, code: "25006")) {
            try await store.commit([spending, .appendEvent(.sample(1))])
        }
        #expect(try await store.ticket(digest: TicketRow.sample(1).digest) == .sample(1))
        try await readOnly(false, server)
        while try await !isWritten(store), ContinuousClock.now < end {}
        #expect(try await store.commit([spending, .appendEvent(.sample(1))]) == .done)
    }

    /// Whether a commit succeeds, rather than being refused because the database is read-only.
    private func isWritten(_ store: PostgreSQLVerificationStore) async throws -> Bool {
        do throws(StoreFailure) {
            return try await store.commit([.appendEvent(.sample(0))]) == .done
        } catch {
            try #require(error.kind == .readOnly)
            return false
        }
    }

    private func open(
        _ database: TestDatabase, _ url: String? = nil
    ) throws -> PostgreSQLVerificationStore {
        try PostgreSQLVerificationStore(
            connecting: try #require(PostgreSQLAddress(url ?? database.url)),
            key: database.keys.auditKey, connections: Self.connections)
    }

    private func readOnly(_ isReadOnly: Bool, _ server: PostgreSQLServer) async throws {
        try await onOwnThread {
            try server.query(
                "ALTER SYSTEM SET default_transaction_read_only = \(isReadOnly ? "on" : "off")")
            try server.query("SELECT pg_reload_conf()")
        }
    }

    /// Expects that the store refuses every call, once it is connected to the database.
    private func expectDamaged(_ store: PostgreSQLVerificationStore, _ digest: [UInt8]) async throws
    {
        let damaged = StoreFailure(.damaged, code: "behind")
        #expect(
            try await failure { () throws(StoreFailure) in try await store.ticket(digest: digest) }
                == damaged)
        #expect(
            try await failure { () throws(StoreFailure) in
                try await store.commit([.spendTicket(digest: digest)])
            } == damaged)
    }

    /// The failure of a call once the store is connected again.
    private func failure<Found>(
        _ call: () async throws(StoreFailure) -> Found
    ) async throws -> StoreFailure? {
        do throws(StoreFailure) {
            _ = try await eventually(call)
            return nil
        } catch {
            return error
        }
    }
}

/// The result of a call once the store is connected again and not busy.
///
/// - Throws: any other failure, or the last failure after a minute, which is not a measure of
///   speed.
func eventually<Found>(
    _ call: () async throws(StoreFailure) -> Found
) async throws(StoreFailure) -> Found {
    let end = ContinuousClock.now + .seconds(60)
    while true {
        do throws(StoreFailure) {
            return try await call()
        } catch {
            guard [.unavailable, .busy].contains(error.kind), ContinuousClock.now < end else {
                throw error
            }
            do { try await Task.sleep(for: .milliseconds(5)) } catch _ {}
        }
    }
}

extension TestDatabase {
    /// The name of the database, the same on every server.
    fileprivate var name: String { url.split(separator: "/").last.map(String.init) ?? url }
}
