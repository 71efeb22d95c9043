import PostgreSQLServer
import SQLStore
import StoreContract
import Synchronization
import Testing
import Verification

@testable import PostgreSQLStore

/// Event chains: each writer has one, later writers continue it, and the chains never fork and are
/// audited.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct ChainTests {
    private func count(_ database: TestDatabase) throws -> String {
        try database.query("SELECT count(*) FROM watchword.chains")
    }

    @Test("each writer has its own chain, and a later writer continues it")
    func leases() async throws {
        let database = try TestDatabase()
        for round in 1...3 {
            let stores = [
                try database.open(reading: 1, writing: 2), try database.open(),
            ]
            for (index, store) in stores.enumerated() {
                for number in 0..<5 {
                    _ = try await store.commit([
                        .appendEvent(.sample(100 * round + 10 * index + number))
                    ])
                }
            }
            #expect(try count(database) == "3")
            #expect(
                try database.audit().isWhole(events: 10 * round))
            for store in stores { store.close() }
            // The server may need a moment to notice that the sessions have ended.
            while try database.query(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
                    + "(SELECT oid FROM pg_database WHERE datname = current_database())") != "0"
            {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    @Test("events become visible in the order of their positions, whichever store commits")
    func positions() async throws {
        let database = try TestDatabase()
        let stores = [
            try database.open(reading: 1, writing: 3),
            try database.open(reading: 1, writing: 3),
        ]
        let reader = try database.open()
        let writing = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<12 {
                    group.addTask {
                        for round in 0..<20 {
                            _ = try await stores[caller % 2].commit([
                                .appendEvent(.sample(100 * caller + round))
                            ])
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        var read: [ChainedEvent] = []
        while read.count < 240 {
            read += try await reader.events(after: read.last?.position ?? 0, limit: 7)
        }
        try await writing.value
        // No event appeared late at a position that had already been read.
        #expect(try await reader.events(after: 0, limit: 1_000) == read)
        #expect(read.map(\.position) == (1...240).map(UInt64.init))
        #expect(try database.audit().findings == [])
    }

    @Test("the checkpoint callback runs after a given number of events, before the commit returns")
    func watched() async throws {
        let database = try TestDatabase()
        let store = try database.open(reading: 1, writing: 2)
        let told = Mutex(0)
        store.onCheckpointChange(by: 5) { told.withLock { $0 += 1 } }
        for number in 1...17 {
            _ = try await store.commit([.appendEvent(.sample(number))])
            #expect(told.withLock { $0 } == number / 5)
        }
        // A commit with more than five events causes only one call.
        _ = try await store.commit((0..<13).map { .appendEvent(.sample($0)) })
        #expect(told.withLock { $0 } == 4)
        #expect(store.ends.map(\.position).max() == 30)
    }

    @Test("a closed chain gets no more events, and a new chain begins")
    func closed() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.appendEvent(.sample(1))])
        try database.query("UPDATE watchword.chains SET is_open = false")
        #expect(try await store.commit([.appendEvent(.sample(2))]) == .done)
        #expect(try count(database) == "2")
        #expect(try database.audit().isWhole(events: 2))
    }

    @Test(
        "V-30 a writer does not continue from a forged end of a chain",
        arguments: [
            "head_sequence = head_sequence + 1", "head_digest = sha256(head_digest)",
            "head_sequence = 1, head_digest = (SELECT digest FROM watchword.events "
                + "WHERE position = 1)",
        ])
    func forged(change: String) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        for number in 1...3 { _ = try await store.commit([.appendEvent(.sample(number))]) }
        try database.query("UPDATE watchword.chains SET \(change)")
        await #expect(throws: StoreFailure(.damaged, code: "chain")) {
            try await store.commit([.appendEvent(.sample(4))])
        }
        #expect(throws: SQLStoreError.store(StoreFailure(.damaged, code: "chain"))) {
            try database.open()
        }
        #expect(try database.audit().findings != [])
    }

    static let edits = [
        "DELETE FROM watchword.events WHERE position = 1",
        "DELETE FROM watchword.events WHERE position = 4",
        "DELETE FROM watchword.events WHERE position > 8",
        "UPDATE watchword.events SET body = body || '\\x00' WHERE position = 5",
        "UPDATE watchword.events SET time = time + 1 WHERE position = 5",
        "UPDATE watchword.events SET chain = 3 - chain WHERE position = 5",
        "UPDATE watchword.events SET chain = 9 WHERE position = 5",
        "UPDATE watchword.events SET position = 11 - position + 100 WHERE position IN (3, 5)",
        "INSERT INTO watchword.events SELECT 11, chain, 6, behind, time, body, digest "
            + "FROM watchword.events WHERE position = 5",
        "UPDATE watchword.chains SET start_sequence = 2",
    ]

    @Test("V-30 an audit finds each edit to the database", arguments: edits)
    func edited(script: String) async throws {
        let database = try TestDatabase()
        let stores = [try database.open(), try database.open()]
        for number in 1...10 {
            _ = try await stores[number % 2].commit([.appendEvent(.sample(number))])
        }
        #expect(try database.audit().isWhole(events: 10))
        try database.query(script)
        #expect(try database.audit().findings != [])
    }

    @Test("O-03 an audit finds erased events", arguments: StoreContract.erasures)
    func erased(what: String, script: String) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        var early: [ChainCheckpoint] = []
        for number in 1...10 {
            _ = try await store.commit([.appendEvent(.sample(number, at: Int64(number)))])
            if number == 5 { early = try await store.chains().map(\.head) }
        }
        #expect(try database.audit(checkpoints: early).isWhole(events: 10))
        try database.query("SET search_path = watchword; " + script)
        #expect(try database.audit().findings != [])
        #expect(try database.audit(checkpoints: early).findings != [], "\(what)")
    }

    @Test("O-03 an audit finds events that were swapped between two chains")
    func swapped() async throws {
        let database = try TestDatabase()
        let stores = [try database.open(), try database.open()]
        for number in 1...8 {
            _ = try await stores[number % 2].commit([.appendEvent(.sample(number))])
        }
        #expect(try database.audit().isWhole(events: 8))
        try database.query(
            "UPDATE watchword.events SET position = 100 WHERE position = 3; "
                + "UPDATE watchword.events SET position = 3 WHERE position = 4; "
                + "UPDATE watchword.events SET position = 4 WHERE position = 100")
        #expect(try database.audit().findings != [])
    }
}
