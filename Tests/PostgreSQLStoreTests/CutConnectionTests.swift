import PostgreSQLServer
import PostgreSQLStore
import StoreContract
import TestSupport
import Testing
import Verification

/// Connections that break or fall silent in every state of the protocol.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql-15 is missing"), .serialized)
struct CutConnectionTests {
    @Test("cut behind any byte of a decision, either way, a connection costs no answered decision")
    func decisions() async throws {
        let bench = try await Bench()
        for way in ProxyFault.Way.allCases {
            bench.proxy.arm(nil)
            try await bench.decide()
            let count = bench.proxy.passed(way)
            #expect(count > 50)
            for byte in stride(from: 0, through: count, by: max(count / 60, 1)) {
                try await bench.decide(
                    during: ProxyFault(.cut, at: .byte(way, byte)), mustFail: byte < count)
            }
        }
        try await bench.expectWhole()
    }

    @Test("cut while it opens, a connection is made again, and decides as before")
    func opening() async throws {
        let bench = try await Bench()
        for way in ProxyFault.Way.allCases {
            bench.proxy.cutAll()
            bench.proxy.arm(nil)
            try await bench.decide()
            let count = bench.proxy.passed(way)
            #expect(count > 500)
            var happened = 0
            for byte in stride(from: 0, through: count, by: max(count / 40, 1)) {
                bench.proxy.cutAll()
                let fault = ProxyFault(.cut, at: .byte(way, byte))
                if try await bench.decide(during: fault) { happened += 1 }
            }
            // How much there is to say differs with the chains that others have not left yet.
            #expect(happened > 20)
        }
        try await bench.expectWhole()
    }

    @Test(
        "cut before, in the middle of and behind each message, a connection costs no decision",
        arguments: ProxyFault.Message.allCases, ProxyFault.Part.allCases)
    func messages(message: ProxyFault.Message, part: ProxyFault.Part) async throws {
        // Nothing is sent without preparation.
        guard message != .query else { return }
        let bench = try await Bench()
        for count in 1...3 {
            let fault = ProxyFault(.cut, at: .message(message, count: count, part))
            try await bench.decide(during: fault)
        }
        try await bench.expectWhole()
    }

    @Test(
        "a connection that falls silent is given up, and what arrives late is decided once",
        arguments: [
            (ProxyFault.Message.bind, ProxyFault.Part.half), (.sync, .none), (.sync, .half),
            (.sync, .all), (.commandComplete, .half), (.readyForQuery, .none),
        ])
    func silence(message: ProxyFault.Message, part: ProxyFault.Part) async throws {
        let bench = try await Bench(timeout: .milliseconds(300))
        for count in 1...2 {
            let fault = ProxyFault(.stall, at: .message(message, count: count, part))
            try await bench.decide(during: fault)
        }
        try await bench.expectWhole()
    }

    @Test("cut behind any byte of a read, a connection gives the row or no answer, never another")
    func reads() async throws {
        let bench = try await Bench()
        let row = try await bench.observer.credential(.sample(1))
        #expect(try await bench.store.credential(.sample(1)) == row)
        for way in ProxyFault.Way.allCases {
            bench.proxy.arm(nil)
            #expect(try await bench.store.credential(.sample(1)) == row)
            let count = bench.proxy.passed(way)
            #expect(count > 50)
            for byte in stride(from: 0, through: count, by: max(count / 40, 1)) {
                bench.proxy.arm(ProxyFault(.cut, at: .byte(way, byte)))
                let found = try await eventually { () throws(StoreFailure) in
                    try await bench.store.credential(.sample(1))
                }
                #expect(found == row)
                #expect(!bench.proxy.isArmed || byte == count)
            }
        }
    }

    @Test("once a call has found out that nobody answers, a thousand others do not wait for it")
    func silent() async throws {
        let bench = try await Bench(timeout: .milliseconds(400))
        for _ in 0..<2 {
            let row = try await bench.observer.credential(.sample(1))
            bench.proxy.stall()
            try await bench.expectUnavailable { () async throws(StoreFailure) in
                _ = try await bench.store.credential(.sample(1))
            }
            try await bench.expectUnavailable { () async throws(StoreFailure) in
                _ = try await bench.store.commit([.appendEvent(.sample(1))])
            }
            bench.proxy.heal()
            #expect(
                try await eventually { () throws(StoreFailure) in
                    try await bench.store.credential(.sample(1))
                } == row)
            try await bench.decide()
        }
    }

    @Test("while nothing gets through, calls fail; when it does again, they are done")
    func refused() async throws {
        let bench = try await Bench()
        for _ in 0..<3 {
            bench.proxy.refuse()
            for _ in 0..<20 {
                await #expect(throws: StoreFailure(.unavailable, code: "connection")) {
                    try await bench.store.commit([.appendEvent(.sample(1))])
                }
            }
            bench.proxy.heal()
            try await bench.decide()
        }
        bench.proxy.delay(by: .milliseconds(2))
        try await bench.decide()
        try await bench.expectWhole()
    }
}

/// A row that a store behind a proxy moves on, and another store looks at.
private final class Bench: Sendable {
    let proxy: FaultyProxy
    let store: PostgreSQLStore
    /// The same database, without the proxy.
    let observer: PostgreSQLStore
    private let database: TestDatabase
    private let counts = Counts()

    /// What became of the decisions.
    private actor Counts {
        var done = 0
        var unknown = 0

        func add(done: Int = 0, unknown: Int = 0) {
            self.done += done
            self.unknown += unknown
        }
    }

    init(timeout: Duration = .seconds(5)) async throws {
        database = try TestDatabase()
        observer = try database.open()
        #expect(try await observer.commit([.insertCredential(.sample(1))]) == .done)
        proxy = try FaultyProxy(to: database.server.port)
        store = try PostgreSQLStore(
            connecting: try #require(PostgreSQLAddress(proxy.url(for: database.url))),
            key: database.keys.auditKey, timeout: timeout,
            connections: .init(reading: 1, writing: 1))
    }

    /// Decides once with a fault in the way, then until it is done without one.
    ///
    /// - Parameter mustFail: whether the fault has to happen, and its caller must not be answered.
    /// - Returns: whether the fault happened.
    @discardableResult
    func decide(during fault: ProxyFault? = nil, mustFail: Bool = false) async throws -> Bool {
        var hasHappened = false
        if let fault {
            proxy.arm(fault)
            let isDone = try await step()
            hasHappened = !proxy.isArmed
            if mustFail { #expect(hasHappened && !isDone) }
            proxy.heal()
        }
        let end = ContinuousClock.now + .seconds(60)
        while try await !step() {
            try #require(ContinuousClock.now < end, "the store does not come back")
        }
        return hasHappened
    }

    /// One decision; whether it was answered as done.
    private func step() async throws -> Bool {
        let row = try #require(try await observer.credential(.sample(1)))
        let next = row.next(body: row.body)
        do throws(StoreFailure) {
            let outcome = try await store.commit([
                .updateCredential(next), .appendEvent(.sample(Int(next.version))),
            ])
            // A decision whose fate is not known may have come late, and before this one.
            guard outcome == .done else {
                #expect(await counts.unknown > 0)
                return false
            }
            await counts.add(done: 1)
            let stored = try await observer.credential(.sample(1))
            #expect(stored == next)
            return true
        } catch {
            #expect([.unavailable, .busy].contains(error.trouble))
            await counts.add(unknown: 1)
            do { try await Task.sleep(for: .milliseconds(2)) } catch _ {}
            return false
        }
    }

    /// Expects that a call fails, and a thousand more before a thousand time-outs could be over.
    func expectUnavailable(_ call: () async throws(StoreFailure) -> Void) async throws {
        // No measure of speed: it ends a test that would otherwise take a quarter of an hour.
        let end = ContinuousClock.now + .seconds(60)
        for _ in 0...1_000 {
            try #require(ContinuousClock.now < end, "each call waits")
            let failure = await #expect(throws: StoreFailure.self) { try await call() }
            #expect(failure?.trouble == .unavailable)
        }
    }

    /// Expects that every decision that was answered is there, none twice, each with its event.
    func expectWhole() async throws {
        store.close()
        proxy.heal()
        proxy.cutAll()
        let row = try #require(try await observer.credential(.sample(1)))
        let moves = Int(row.version) - 1
        let (done, unknown) = (await counts.done, await counts.unknown)
        #expect((done...(done + unknown)).contains(moves), "\(moves) of \(done) and \(unknown)")
        let events = try await observer.events(after: 0, limit: 100_000)
        let numbers = events.compactMap { $0.event?.number }
        #expect(numbers == (2..<Int64(moves + 2)).map { $0 })
        let findings = try await StoreContract.audit(
            StoreContract.Subject(observer, key: database.keys.auditKey))
        #expect(findings == [])
    }
}
