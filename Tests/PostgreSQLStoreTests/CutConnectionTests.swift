import PostgreSQLServer
import PostgreSQLStore
import StoreContract
import TestSupport
import Testing
import Verification

/// Connections that break or stall in every state of the protocol.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"), .serialized)
struct CutConnectionTests {
    @Test("a connection cut after any byte of a decision loses no acknowledged decision")
    func decisions() async throws {
        let fixture = try await Fixture()
        for way in ProxyFault.Way.allCases {
            fixture.proxy.arm(nil)
            try await fixture.decide()
            let count = fixture.proxy.passed(way)
            #expect(count > 50)
            for byte in stride(from: 0, through: count, by: max(count / 60, 1)) {
                try await fixture.decide(
                    during: ProxyFault(.cut, at: .byte(way, byte)), mustFail: byte < count)
            }
        }
        try await fixture.expectWhole()
    }

    @Test("if a connection is cut while it opens, it is reopened, and no decision is lost")
    func opening() async throws {
        let fixture = try await Fixture()
        for way in ProxyFault.Way.allCases {
            fixture.proxy.cutAll()
            fixture.proxy.arm(nil)
            try await fixture.decide()
            let count = fixture.proxy.passed(way)
            #expect(count > 500)
            var happened = 0
            for byte in stride(from: 0, through: count, by: max(count / 40, 1)) {
                fixture.proxy.cutAll()
                let fault = ProxyFault(.cut, at: .byte(way, byte))
                if try await fixture.decide(during: fault) { happened += 1 }
            }
            // The number of messages depends on the chains that other sessions still hold.
            #expect(happened > 20)
        }
        try await fixture.expectWhole()
    }

    @Test(
        "a connection cut before, within or after any message loses no decision",
        arguments: ProxyFault.Message.allCases, ProxyFault.Part.allCases)
    func messages(message: ProxyFault.Message, part: ProxyFault.Part) async throws {
        // This message occurs only without prepared statements.
        guard message != .query else { return }
        let fixture = try await Fixture()
        for count in 1...3 {
            let fault = ProxyFault(.cut, at: .message(message, count: count, part))
            try await fixture.decide(during: fault)
        }
        try await fixture.expectWhole()
    }

    @Test(
        "a stalled connection is abandoned, and a late decision takes effect only once",
        arguments: [
            (ProxyFault.Message.bind, ProxyFault.Part.half), (.sync, .none), (.sync, .half),
            (.sync, .all), (.commandComplete, .half), (.readyForQuery, .none),
        ])
    func silence(message: ProxyFault.Message, part: ProxyFault.Part) async throws {
        let fixture = try await Fixture(timeout: .seconds(1))
        for count in 1...2 {
            let fault = ProxyFault(.stall, at: .message(message, count: count, part))
            try await fixture.decide(during: fault)
        }
        try await fixture.expectWhole()
    }

    @Test("a read cut after any byte returns the right row or fails")
    func reads() async throws {
        let fixture = try await Fixture()
        let row = try await fixture.observer.credential(.sample(1))
        #expect(try await fixture.store.credential(.sample(1)) == row)
        for way in ProxyFault.Way.allCases {
            // On a busy machine, a read may also open a connection.
            var count = Int.max
            for _ in 0..<3 {
                fixture.proxy.arm(nil)
                #expect(try await fixture.store.credential(.sample(1)) == row)
                count = min(count, fixture.proxy.passed(way))
            }
            #expect(count > 50)
            for byte in stride(from: 0, through: count, by: max(count / 40, 1)) {
                fixture.proxy.arm(ProxyFault(.cut, at: .byte(way, byte)))
                let found = try await eventually { () throws(StoreFailure) in
                    try await fixture.store.credential(.sample(1))
                }
                #expect(found == row)
                #expect(!fixture.proxy.isArmed || byte == count)
            }
        }
    }

    @Test("after one call has timed out, a thousand other calls fail without waiting")
    func silent() async throws {
        let fixture = try await Fixture(timeout: .seconds(1))
        for _ in 0..<2 {
            let row = try await fixture.observer.credential(.sample(1))
            fixture.proxy.stall()
            try await fixture.expectUnavailable { () async throws(StoreFailure) in
                _ = try await fixture.store.credential(.sample(1))
            }
            try await fixture.expectUnavailable { () async throws(StoreFailure) in
                _ = try await fixture.store.commit([.appendEvent(.sample(1))])
            }
            fixture.proxy.heal()
            #expect(
                try await eventually { () throws(StoreFailure) in
                    try await fixture.store.credential(.sample(1))
                } == row)
            try await fixture.decide()
        }
    }

    @Test("calls fail while connections are refused, and succeed afterwards")
    func refused() async throws {
        let fixture = try await Fixture()
        for _ in 0..<3 {
            fixture.proxy.refuse()
            for _ in 0..<20 {
                await #expect(throws: StoreFailure(.unavailable, code: "connection")) {
                    try await fixture.store.commit([.appendEvent(.sample(1))])
                }
            }
            fixture.proxy.heal()
            try await fixture.decide()
        }
        fixture.proxy.delay(by: .milliseconds(2))
        try await fixture.decide()
        try await fixture.expectWhole()
    }
}

/// A row that a store behind a proxy advances and another store observes.
private final class Fixture: Sendable {
    let proxy: FaultyProxy
    let store: PostgreSQLVerificationStore
    /// The same database, without the proxy.
    let observer: PostgreSQLVerificationStore
    private let database: TestDatabase
    private let counts = Counts()

    /// The results of the decisions.
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
        store = try PostgreSQLVerificationStore(
            connecting: try #require(PostgreSQLAddress(proxy.url(for: database.url))),
            key: database.keys.auditKey,
            connections: .init(reading: 1, writing: 1, timeout: timeout))
    }

    /// Makes one decision with an injected fault, then retries without a fault until a decision
    /// succeeds.
    ///
    /// - Parameter mustFail: whether the fault must occur and must make the call fail.
    /// - Returns: whether the fault occurred.
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
            try #require(ContinuousClock.now < end, "the store does not recover")
        }
        return hasHappened
    }

    /// Makes one decision, and returns whether it was acknowledged.
    private func step() async throws -> Bool {
        let row = try #require(try await observer.credential(.sample(1)))
        let next = row.next(body: row.body)
        do throws(StoreFailure) {
            let outcome = try await store.commit([
                .updateCredential(next), .appendEvent(.sample(Int(next.version))),
            ])
            // An earlier decision with an unknown result may have been committed late, before this
            // decision.
            guard outcome == .done else {
                #expect(await counts.unknown > 0)
                return false
            }
            await counts.add(done: 1)
            let stored = try await observer.credential(.sample(1))
            #expect(stored == next)
            return true
        } catch {
            #expect([.unavailable, .busy].contains(error.kind))
            await counts.add(unknown: 1)
            do { try await Task.sleep(for: .milliseconds(2)) } catch _ {}
            return false
        }
    }

    /// Expects that a call fails, and that a thousand more fail before a thousand timeouts could
    /// pass.
    func expectUnavailable(_ call: () async throws(StoreFailure) -> Void) async throws {
        // The deadline does not measure speed: it ends a test that would otherwise take a quarter
        // of an hour.
        let end = ContinuousClock.now + .seconds(60)
        for _ in 0...1_000 {
            try #require(ContinuousClock.now < end, "every call waits for a timeout")
            let failure = await #expect(throws: StoreFailure.self) { try await call() }
            #expect(failure?.kind == .unavailable)
        }
    }

    /// Expects every acknowledged decision exactly once, with its event.
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
