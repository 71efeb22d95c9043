import Foundation
import Synchronization
import Testing

@testable import PostgreSQLStore

/// What a pool does while nobody answers, with connections that do what a test says.
struct ConnectionPoolTests {
    /// Connections, and what befalls them.
    private final class Stage: Sendable {
        struct Content {
            /// Jobs that nobody answers.
            var silent: Set<Int> = []
            /// Whether somebody answers who is asked in doubt, and how many were asked.
            var isAnswered = true
            var asked = 0
            /// Whether a new connection is held up until this is over.
            var isHeld = false
            var opening = 0
            /// The same of what is done, and how often something is.
            var isPerformingHeld = false
            var performing = 0
            var done: [Int] = []
            var refused: [Int: String] = [:]
        }

        let content = Mutex(Content())
        private let changed = NSCondition()

        func change(_ body: (inout Content) -> Void) {
            changed.lock()
            content.withLock { body(&$0) }
            changed.broadcast()
            changed.unlock()
        }

        /// Waits until `condition` holds, however long that takes.
        func wait(until condition: (Content) -> Bool) {
            changed.lock()
            while !content.withLock({ condition($0) }) { changed.wait() }
            changed.unlock()
        }

        /// Takes until no connection is held up.
        private func open() {
            change { $0.opening += 1 }
            wait { !$0.isHeld }
            change { $0.opening -= 1 }
        }

        /// A pool that has so many connections, whose jobs are numbers.
        func pool(_ count: Int) throws -> ConnectionPool<Void, Int> {
            try ConnectionPool(
                .init(
                    size: count, open: { _ in self.open() }, stands: { _ in true },
                    answers: {
                        self.change { $0.asked += 1 }
                        return self.content.withLock { $0.isAnswered }
                    },
                    take: { jobs in
                        defer { jobs = [] }
                        return jobs
                    },
                    perform: { _, jobs in
                        self.change { $0.performing += 1 }
                        self.wait { !$0.isPerformingHeld }
                        if self.content.withLock({ !$0.silent.isDisjoint(with: jobs) }) {
                            for job in jobs { self.refuse(job, .timedOut) }
                            return .init(isLost: true, isSilent: true)
                        }
                        self.change { $0.done += jobs }
                        return .init(isLost: false)
                    }, refuse: refuse),
                open: Array(repeating: (), count: count))
        }

        private func refuse(_ job: Int, _ failure: PostgreSQLFailure) {
            change { $0.refused[job] = failure.code }
        }
    }

    @Test("once nobody answered, calls fail at once, for as long as nobody can be connected to")
    func known() throws {
        let stage = Stage()
        let pool = try stage.pool(1)
        stage.change { content in
            content.silent = [1]
            content.isHeld = true
        }
        pool.submit(1)
        stage.wait { $0.opening == 1 }
        // Before the call returns, while a new connection is waited for.
        for job in 2...50 { pool.submit(job) }
        #expect(stage.content.withLock { $0.refused.values.filter { $0 == "timeout" }.count } == 50)
        stage.change { $0.isHeld = false }
        expectDone(100, by: pool, on: stage)
        pool.close()
    }

    @Test("what waits behind a call that nobody answers is refused with it")
    func queued() throws {
        let stage = Stage()
        let pool = try stage.pool(1)
        stage.change { content in
            content.silent = [1]
            content.isHeld = true
            content.isPerformingHeld = true
        }
        pool.submit(1)
        stage.wait { $0.performing == 1 }
        pool.submit(2)
        stage.change { $0.isPerformingHeld = false }
        stage.wait { $0.refused[2] != nil }
        #expect(stage.content.withLock { $0.refused } == [1: "timeout", 2: "timeout"])
        stage.change { $0.isHeld = false }
        pool.close()
    }

    @Test("where somebody answers on another connection, calls go on over that one")
    func doubted() throws {
        let stage = Stage()
        let pool = try stage.pool(2)
        stage.change { content in
            content.silent = [1]
            content.isHeld = true
        }
        pool.submit(1)
        // No new connection can be had.
        expectDone(2, by: pool, on: stage)
        #expect(stage.content.withLock { $0.asked } == 1)
        stage.change { $0.isHeld = false }
        pool.close()
    }

    @Test("where nobody answers on the other ones either, no call is made to find out")
    func silent() throws {
        let stage = Stage()
        let pool = try stage.pool(3)
        stage.change { content in
            content.silent = [1]
            content.isHeld = true
            content.isAnswered = false
        }
        pool.submit(1)
        stage.wait { $0.asked == 2 && $0.opening == 1 }
        pool.submit(2)
        #expect(stage.content.withLock { $0.refused } == [1: "timeout", 2: "timeout"])
        stage.change { $0.isHeld = false }
        expectDone(3, by: pool, on: stage)
        pool.close()
    }

    /// Submits a job again and again until it is done.
    ///
    /// A pool that never goes on is a test that never ends: a bound would be a measure of speed.
    private func expectDone(_ job: Int, by pool: ConnectionPool<Void, Int>, on stage: Stage) {
        while true {
            stage.change { $0.refused[job] = nil }
            pool.submit(job)
            stage.wait { $0.done.contains(job) || $0.refused[job] != nil }
            if stage.content.withLock({ $0.done.contains(job) }) { return }
            usleep(1_000)
        }
    }
}
