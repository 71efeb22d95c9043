import POSIX
import Testing

@testable import AgentService

/// Turns of users, who share a limited amount of memory.
struct MemoryTurnsTests {
    private func begin(
        _ turns: MemoryTurns, _ user: UInt32, _ size: Int = 0,
        waiting timeout: Duration = .zero
    ) throws -> Bool {
        try turns.begin(of: user, size: size, timeout: timeout)
    }

    @Test("each user has one turn at a time")
    func users() throws {
        let turns = MemoryTurns(total: .max)
        #expect(try begin(turns, 1))
        #expect(try !begin(turns, 1))
        #expect(try begin(turns, 2))
        turns.end(of: 1)
        #expect(try begin(turns, 1))
    }

    @Test("the turns of all users stay within the total, and one that exceeds it runs alone")
    func total() throws {
        let turns = MemoryTurns(total: 10)
        #expect(try begin(turns, 1, 6))
        #expect(try !begin(turns, 2, 5))
        #expect(try begin(turns, 3, 4))
        turns.end(of: 1)
        #expect(try !begin(turns, 2, 99))
        turns.end(of: 3)
        #expect(try begin(turns, 2, 99))
        #expect(try !begin(turns, 1, 1))
    }

    @Test("whoever waits gets the turn when it is free, and a large request is not overtaken")
    func order() throws {
        let turns = MemoryTurns(total: 10)
        #expect(try begin(turns, 1, 6))
        let isWaiting = try SocketPair()
        let worker = try #require(
            WorkerThread {
                do {
                    let hasBegun = try turns.begin(
                        of: 2, size: 8, timeout: .seconds(60),
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
        #expect(try !begin(turns, 3, 4))
        turns.end(of: 1)
        worker.join()
        #expect(try !begin(turns, 3, 4))
    }

    @Test("a request that is no longer wanted stops waiting, and leaves its place")
    func unwanted() throws {
        let turns = MemoryTurns(total: 1)
        #expect(try begin(turns, 1, 1))
        let hasBegun = try turns.begin(
            of: 2, size: 1, timeout: .seconds(60), while: { false })
        #expect(!hasBegun)
        turns.end(of: 1)
        #expect(try begin(turns, 3, 1))
    }
}
