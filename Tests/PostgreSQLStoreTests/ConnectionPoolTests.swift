import Foundation
import Synchronization
import Testing
import Verification

@testable import PostgreSQLStore

/// The behaviour of a pool when the server does not respond, with connections that the tests
/// control.
struct ConnectionPoolTests {
    /// The simulated connections and their state.
    private final class Stage: Sendable {
        struct Content {
            /// The jobs that get no response.
            var silent: Set<Int> = []
            /// Whether a tested connection responds, and the number of tested connections.
            var isAnswered = true
            var asked = 0
            /// Whether new connections are delayed until this value becomes false.
            var isHeld = false
            var opening = 0
            /// Whether jobs are delayed, and the number of jobs that have started.
            var isPerformingHeld = false
            var performing = 0
            var done: [Int] = []
            var refused: [Int: String] = [:]
            /// The action of a job's caller as soon as the job is refused.
            var reaction: (@Sendable (Int) -> Void)?
        }

        let content = Mutex(Content())
        private let changed = NSCondition()

        func change(_ body: (inout Content) -> Void) {
            changed.lock()
            content.withLock { body(&$0) }
            changed.broadcast()
            changed.unlock()
        }

        /// Waits until `condition` holds, without a time limit.
        func wait(until condition: (Content) -> Bool) {
            changed.lock()
            while !content.withLock({ condition($0) }) { changed.wait() }
            changed.unlock()
        }

        /// Opens a connection, once connections are no longer delayed.
        private func open() {
            change { $0.opening += 1 }
            wait { !$0.isHeld }
            change { $0.opening -= 1 }
        }

        /// A pool of `count` connections, whose jobs are numbers.
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
                            return .init(isLost: true, isUnresponsive: true, again: jobs)
                        }
                        self.change { $0.done += jobs }
                        return .init(isLost: false)
                    }, refuse: refuse),
                open: Array(repeating: (), count: count))
        }

        private func refuse(_ job: Int, _ failure: StoreFailure) {
            change { $0.refused[job] = failure.code }
            content.withLock { $0.reaction }?(job)
        }
    }

    @Test("after a timeout, calls fail immediately until a connection can be opened")
    func known() throws {
        let stage = Stage()
        let pool = try stage.pool(1)
        stage.change { content in
            content.silent = [1]
            content.isHeld = true
        }
        let wasRefused = Mutex<Bool?>(nil)
        stage.change { content in
            content.reaction = { job in
                guard job == 1 else { return }
                pool.submit(2)
                let isRefused = stage.content.withLock { $0.refused[2] != nil }
                wasRefused.withLock { $0 = isRefused }
            }
        }
        pool.submit(1)
        stage.wait { $0.opening == 1 }
        #expect(wasRefused.withLock { $0 } == true)
        stage.change { $0.reaction = nil }
        for job in 3...50 { pool.submit(job) }
        #expect(stage.content.withLock { $0.refused.values.filter { $0 == "timeout" }.count } == 50)
        stage.change { $0.isHeld = false }
        expectDone(100, by: pool, on: stage)
        pool.close()
    }

    @Test("jobs queued behind a call that times out are refused together with the call")
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

    @Test("calls continue on another connection if the server answers on it")
    func doubted() throws {
        let stage = Stage()
        let pool = try stage.pool(2)
        stage.change { content in
            content.silent = [1]
            content.isHeld = true
        }
        pool.submit(1)
        stage.wait { $0.refused[1] != nil }
        // No new connection can be opened from here on.
        expectDone(2, by: pool, on: stage)
        #expect(stage.content.withLock { $0.asked } == 1)
        stage.change { $0.isHeld = false }
        pool.close()
    }

    @Test("after a timeout, the other connections are tested before they run a job")
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

    /// Submits a job repeatedly until it is done.
    ///
    /// The loop has no deadline, because a deadline would measure speed: if the pool never
    /// recovers, the test never ends.
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
