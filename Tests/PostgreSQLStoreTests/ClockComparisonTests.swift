import PostgreSQLServer
import SQLStore
import StoreContract
import Synchronization
import Testing
import Verification
import WatchwordSystem

@testable import PostgreSQLStore

/// A machine whose clock differs from the database's does not use the database.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct ClockComparisonTests {
    /// The clock of this machine, which is also the database's, with an error that a test sets.
    private final class ShiftedClock: Sendable {
        private let shift = Atomic<Int64>(0)

        func shift(by milliseconds: Int64) { shift.store(milliseconds, ordering: .relaxed) }

        var now: Int64 { SystemClock.unixMilliseconds() + shift.load(ordering: .relaxed) }
    }

    private static let refusal = StoreFailure(.unavailable, code: "clock-differs")

    @Test(
        "T-01 a store does not open with a clock that is ahead or behind",
        arguments: [-3_600_000, -11_000, 3_600_000] as [Int64])
    func opening(shift: Int64) throws {
        let database = try TestDatabase()
        let clock = ShiftedClock()
        clock.shift(by: shift)
        #expect(throws: SQLStoreError.store(Self.refusal)) {
            try database.open { clock.now }
        }
        clock.shift(by: 0)
        let store = try database.open { clock.now }
        #expect(try database.query("SELECT count(*) FROM watchword.chains") == "1")
        store.close()
    }

    @Test("T-01 H-12 after a clock jump, reads and commits stop until the clock is right again")
    func jump() async throws {
        let database = try TestDatabase()
        let clock = ShiftedClock()
        let store = try database.open { clock.now }
        let other = try database.open()
        #expect(try await store.commit([.insertCredential(.sample(1))]) == .done)
        for shift: Int64 in [3_600_000, -3_600_000] {
            clock.shift(by: shift)
            await #expect(throws: Self.refusal) { try await store.credential(.sample(1)) }
            await #expect(throws: Self.refusal) { try await store.credential(.sample(1)) }
            await #expect(throws: Self.refusal) {
                try await store.commit([.appendEvent(.sample(1))])
            }
            // Other machines continue.
            #expect(try await other.commit([.appendEvent(.sample(2))]) == .done)
            clock.shift(by: 0)
            #expect(
                try await eventually { () throws(StoreFailure) in
                    try await store.credential(.sample(1))
                } == .sample(1))
            #expect(
                try await eventually { () throws(StoreFailure) in
                    try await store.commit([.appendEvent(.sample(3))])
                } == .done)
        }
        #expect(
            try await other.events(after: 0, limit: 9).compactMap { $0.event?.number } == [
                2, 3, 2, 3,
            ])
        store.close()
        other.close()
    }

    @Test("T-01 the tolerance covers the time of the round trip, and ends exactly at 10 s")
    func tolerance() async throws {
        let database = try TestDatabase()
        let session = try PostgreSQLConnection(try #require(PostgreSQLAddress(database.url)))
        try session.enterPipelineMode()
        func differs(by milliseconds: Int64) throws -> Bool {
            let clock = ClockComparison { 1_000_000_000_000 - milliseconds }
            let sent = clock.reading()
            let query = PipelineCommand.text("SELECT 1000000000000::bigint")
            let results = try session.run([query], timeout: .seconds(20)).results()
            do throws(StoreFailure) {
                try clock.compare(results[0].rows, since: sent)
                return false
            } catch {
                #expect(error == .clock && !clock.isClose)
                return true
            }
        }
        for milliseconds: Int64 in [0, 10_000, -10_000] {
            #expect(try !differs(by: milliseconds), "\(milliseconds)")
        }
        // The difference exceeds the tolerance by more than the round trip.
        for milliseconds: Int64 in [40_000, -10_001] {
            #expect(try differs(by: milliseconds), "\(milliseconds)")
        }
    }

    @Test("clocks are compared every five seconds, and at once after a jump")
    func interval() {
        let clock = ShiftedClock()
        let comparison = ClockComparison { clock.now }
        #expect(comparison.due() != nil)
        #expect(comparison.due() == nil)
        clock.shift(by: 2_000)
        #expect(comparison.due() != nil)
        #expect(comparison.due() == nil)
        clock.shift(by: 0)
        #expect(comparison.due() != nil)
    }
}
