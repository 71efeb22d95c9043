import Testing
import WatchwordSystem

@testable import Agent

/// Turns of users who share a limited amount of memory.
struct MemoryTurnsTests {
    private func begin(
        _ turns: MemoryTurns, _ user: UInt32, _ size: Int = 0
    ) throws -> Bool {
        try turns.begin(of: user, size: size, timeout: .zero)
    }

    /// Starts a thread that waits for a turn and gets it; returns once the thread is sure to wait.
    private func waiting(_ turns: MemoryTurns, _ user: UInt32, _ size: Int) throws -> WorkerThread {
        // One signal for each thread, so that all are sure to wait before a turn is free.
        let isWaiting = try SocketPair()
        let thread = try #require(
            WorkerThread {
                do {
                    let hasBegun = try turns.begin(
                        of: user, size: size, timeout: .seconds(60),
                        while: {
                            do { try isWaiting.second.send(1) } catch {}
                            return true
                        })
                    #expect(hasBegun)
                } catch {
                    Issue.record(error)
                }
            })
        _ = try Polling.ready(of: [.reading(isWaiting.first)], timeout: .seconds(60))
        return thread
    }

    @Test("each user has one turn at a time")
    func users() throws {
        let turns = MemoryTurns(total: .max)
        #expect(try begin(turns, 1))
        #expect(try !begin(turns, 1))
        #expect(try begin(turns, 2))
        turns.end(of: 1, size: 0)
        #expect(try begin(turns, 1))
    }

    @Test("the turns of all users stay within the total, and a turn that exceeds it runs alone")
    func total() throws {
        let turns = MemoryTurns(total: 10)
        #expect(try begin(turns, 1, 6))
        #expect(try !begin(turns, 2, 5))
        #expect(try begin(turns, 3, 4))
        turns.end(of: 1, size: 6)
        #expect(try !begin(turns, 2, 99))
        turns.end(of: 3, size: 4)
        #expect(try begin(turns, 2, 99))
        #expect(try !begin(turns, 1, 1))
    }

    @Test("a waiting request gets the turn when it is free, and no request overtakes a large one")
    func order() throws {
        let turns = MemoryTurns(total: 10)
        #expect(try begin(turns, 1, 6))
        let worker = try waiting(turns, 2, 8)
        #expect(try !begin(turns, 3, 4))
        turns.end(of: 1, size: 6)
        worker.join()
        #expect(try !begin(turns, 3, 4))
    }

    @Test("a user has several turns within a limit, and a turn that exceeds it runs alone")
    func severalTurns() throws {
        let turns = MemoryTurns(total: 20, perUser: 10)
        #expect(try begin(turns, 1, 6))
        #expect(try !begin(turns, 1, 5))
        #expect(try begin(turns, 1, 4))
        #expect(try begin(turns, 2, 99))
        #expect(try !begin(turns, 3, 1))
        turns.end(of: 2, size: 99)
        turns.end(of: 1, size: 6)
        #expect(try !begin(turns, 1, 7))
        #expect(try begin(turns, 1, 5))
        #expect(try begin(turns, 2, 10))
        #expect(try begin(turns, 1, 1))
        #expect(try !begin(turns, 1, 1))
    }

    @Test("users with the fewest turns come first, however many others wait")
    func least() throws {
        let turns = MemoryTurns(total: 10, perUser: 8)
        #expect(try begin(turns, 1, 3))
        #expect(try begin(turns, 1, 3))
        #expect(try begin(turns, 2, 3))
        // The turn waits while the user has much memory.
        let worker = try waiting(turns, 1, 2)
        #expect(try begin(turns, 3, 1))
        turns.end(of: 3, size: 1)
        turns.end(of: 2, size: 3)
        worker.join()
    }

    @Test("a request that is no longer wanted stops waiting, and leaves its place")
    func unwanted() throws {
        let turns = MemoryTurns(total: 1)
        #expect(try begin(turns, 1, 1))
        let hasBegun = try turns.begin(
            of: 2, size: 1, timeout: .seconds(60), while: { false })
        #expect(!hasBegun)
        turns.end(of: 1, size: 1)
        #expect(try begin(turns, 3, 1))
    }

    @Test("among users without turns, the one whose last turn began longest ago comes first")
    func fairness() throws {
        let turns = MemoryTurns(total: 10)
        for user: UInt32 in [1, 2] {
            #expect(try begin(turns, user, 10))
            turns.end(of: user, size: 10)
        }
        #expect(try begin(turns, 3, 10))
        // User 2 asks first, but had a turn after user 1.
        let later = try waiting(turns, 2, 10)
        let first = try waiting(turns, 1, 10)
        turns.end(of: 3, size: 10)
        first.join()
        turns.end(of: 1, size: 10)
        later.join()
    }
}
