import PostgreSQLServer
import PostgreSQLStore
import StoreContract
import TestSupport
import Testing
import Verification

/// A database that is killed, started again, replaced or locked under load: nothing is accepted twice,
/// nothing that was answered is gone, and the stores go on by themselves.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql-15 is missing"), .serialized)
struct ServerFaultTests {
    private static let connections = PostgreSQLStore.Connections(reading: 1, writing: 3)

    @Test("T-10 killed, stopped and started again under load, a database accepts nothing twice")
    func restarted() async throws {
        let server = try await offThePool { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: server)
        let ledger = try await Ledger([open(database), open(database)])
        try await ledger.run(callers: 6) {
            for end in [server.kill9, server.kill9, server.stop] {
                try await ledger.awaitProgress(150)
                try await offThePool { try end() }
                try await ledger.awaitFailures(24)
                try await offThePool { try server.launch() }
            }
            try await ledger.awaitProgress(150)
        }
        // There was no database, or none yet; nothing else was wrong with it.
        #expect(ledger.troubles.isSubset(of: [.unavailable, .busy]), "\(ledger.failures)")
        try await ledger.expectKept(in: open(database), key: database.keys.auditKey)
    }

    @Test("a primary is replaced by its synchronous standby under load, and nothing is lost")
    func synchronous() async throws {
        let primary = try await offThePool { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: primary)
        let standby = try await offThePool { try primary.addStandby(isSynchronous: true) }
        let url = PostgreSQLServer.url(database.name, of: [primary, standby])
        let stores = [try open(database, url), try open(database, url)]
        let ledger = try await Ledger(stores)
        try await ledger.run(callers: 6) {
            try await ledger.awaitProgress(150)
            try await offThePool { try primary.kill9() }
            try await ledger.awaitFailures(24)
            try await offThePool { try standby.promote() }
            try await ledger.awaitProgress(150)
        }
        #expect(ledger.troubles.isSubset(of: [.unavailable, .busy]), "\(ledger.failures)")
        try await ledger.expectKept(
            in: open(database, standby.url(database.name)), key: database.keys.auditKey)
    }

    @Test(
        "what no standby has is not answered, also where the server itself would not wait for one")
    func withheld() async throws {
        let primary = try await offThePool {
            try PostgreSQLServer.start(settings: ["synchronous_commit": "off"])
        }
        let database = try TestDatabase(on: primary)
        let standby = try await offThePool { try primary.addStandby(isSynchronous: true) }
        let url = PostgreSQLServer.url(database.name, of: [primary, standby])
        let store = try open(database, url, timeout: .milliseconds(500))
        let spending = StoreChange.spendTicket(digest: TicketRow.sample(1).digest)
        #expect(try await store.commit([.insertTicket(.sample(1))]) == .done)
        try await offThePool { try primary.withholdReplication() }
        let failure = await #expect(throws: StoreFailure.self) {
            try await store.commit([spending, .appendEvent(.sample(1))])
        }
        #expect(failure?.trouble == .unavailable)
        try await offThePool {
            try primary.kill9()
            try standby.promote()
        }
        // Nobody was told that it was spent, and so nothing is missing.
        #expect(
            try await eventually { () throws(StoreFailure) in
                try await store.commit([spending, .appendEvent(.sample(2))])
            } == .done)
        #expect(try await store.events(after: 0, limit: 9).compactMap { $0.event?.number } == [2])
    }

    @Test("a synchronous standby that falls silent costs few connections, and its return is enough")
    func silentStandby() async throws {
        let primary = try await offThePool { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: primary)
        let standby = try await offThePool { try primary.addStandby(isSynchronous: true) }
        let store = try PostgreSQLStore(
            connecting: try #require(PostgreSQLAddress(database.url)), key: database.keys.auditKey,
            timeout: .milliseconds(500))
        let chains = try await store.chains().count
        try await offThePool { try primary.withholdReplication() }
        for _ in 0..<8 {
            let failure = await #expect(throws: StoreFailure.self) {
                try await store.commit([.appendEvent(.sample(1))])
            }
            #expect(failure?.trouble == .unavailable)
        }
        // The one that found out.
        let waiting = try await offThePool {
            try primary.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        }
        #expect(waiting == "1")
        try await offThePool { try primary.resumeReplication() }
        #expect(
            try await eventually { () throws(StoreFailure) in
                try await store.commit([.appendEvent(.sample(2))])
            } == .done)
        // Where the one that waited has not left its chain yet, another one was begun.
        #expect(try await store.chains().count <= chains + 1)
        withExtendedLifetime(standby) {}
    }

    @Test("an asynchronous standby that lacks what was answered is noticed, and not used")
    func asynchronous() async throws {
        let primary = try await offThePool { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: primary)
        let standby = try await offThePool { try primary.addStandby(isSynchronous: false) }
        let url = PostgreSQLServer.url(database.name, of: [primary, standby])
        let witness = try open(database, url)
        let stranger = try open(database, url)
        let digest = TicketRow.sample(1).digest
        #expect(try await witness.commit([.insertTicket(.sample(1))]) == .done)
        #expect(try await stranger.commit([.appendEvent(.sample(1))]) == .done)
        #expect(try await witness.commit([.appendEvent(.sample(2))]) == .done)
        try await offThePool {
            let position = try primary.query("SELECT pg_current_wal_lsn()")
            try standby.awaitReplay(of: position)
            try primary.withholdReplication()
        }
        // Answered, and only where it was answered.
        #expect(
            try await witness.commit([.spendTicket(digest: digest), .appendEvent(.sample(3))])
                == .done)
        try await offThePool {
            try primary.kill9()
            try standby.promote()
        }
        // Who was told so knows better than the database, and stays with it.
        for _ in 0..<3 {
            try await expectDamaged(witness, digest)
        }
        // Who was told nothing that is gone has no way of knowing: there the ticket is spent again.
        #expect(
            try await eventually { () throws(StoreFailure) in
                try await stranger.commit([.spendTicket(digest: digest), .appendEvent(.sample(4))])
            } == .done)
        try await expectDamaged(witness, digest)
    }

    @Test("a database that only reads refuses every decision, and reads on")
    func readOnly() async throws {
        let server = try await offThePool { try PostgreSQLServer.start() }
        let database = try TestDatabase(on: server)
        let store = try database.open()
        #expect(try await store.commit([.insertTicket(.sample(1))]) == .done)
        let spending = StoreChange.spendTicket(digest: TicketRow.sample(1).digest)
        // A new connection would look for a server that takes what is written.
        #expect(try await store.ticket(digest: TicketRow.sample(1).digest) == .sample(1))
        try await readOnly(true, server)
        // The connection that commits hears of it a moment later.
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

    /// Whether a commit is done, and not refused because the database only reads.
    private func isWritten(_ store: PostgreSQLStore) async throws -> Bool {
        do throws(StoreFailure) {
            return try await store.commit([.appendEvent(.sample(0))]) == .done
        } catch {
            try #require(error.trouble == .readOnly)
            return false
        }
    }

    private func open(
        _ database: TestDatabase, _ url: String? = nil, timeout: Duration = .seconds(2)
    ) throws -> PostgreSQLStore {
        try PostgreSQLStore(
            connecting: try #require(PostgreSQLAddress(url ?? database.url)),
            key: database.keys.auditKey, timeout: timeout, connections: Self.connections)
    }

    private func readOnly(_ isReadOnly: Bool, _ server: PostgreSQLServer) async throws {
        try await offThePool {
            try server.query(
                "ALTER SYSTEM SET default_transaction_read_only = \(isReadOnly ? "on" : "off")")
            try server.query("SELECT pg_reload_conf()")
        }
    }

    /// Expects that the store answers nothing any more, once it has found the database.
    private func expectDamaged(_ store: PostgreSQLStore, _ digest: [UInt8]) async throws {
        let damaged = StoreFailure(.damaged, code: "behind")
        #expect(
            try await failure { () throws(StoreFailure) in try await store.ticket(digest: digest) }
                == damaged)
        #expect(
            try await failure { () throws(StoreFailure) in
                try await store.commit([.spendTicket(digest: digest)])
            } == damaged)
    }

    /// What a call fails of that is no mere lack of a connection.
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

/// What a call comes to once the store has a connection again.
///
/// - Throws: any other failure, or that one after a minute, which is no measure of speed.
func eventually<Found>(
    _ call: () async throws(StoreFailure) -> Found
) async throws(StoreFailure) -> Found {
    let end = ContinuousClock.now + .seconds(60)
    while true {
        do throws(StoreFailure) {
            return try await call()
        } catch {
            guard error.trouble == .unavailable, ContinuousClock.now < end else { throw error }
            do { try await Task.sleep(for: .milliseconds(5)) } catch _ {}
        }
    }
}

extension TestDatabase {
    /// The database's name, on whichever server.
    fileprivate var name: String { url.split(separator: "/").last.map(String.init) ?? url }
}
