internal import POSIX
internal import Synchronization
internal import Verification

/// A fixed number of connections, each with a thread of its own, that share a queue.
///
/// A thread takes what waits, as much as its work can do in one go: so a single caller never waits for
/// company, and many share the round trips. When no connection can be had, calls fail at once until
/// there is one again; one thread tries meanwhile, less and less often.
final class ConnectionPool<Connected: Sendable, Job: Sendable>: Sendable {
    /// What doing some jobs came to.
    struct Verdict {
        /// Whether the connection is of no more use.
        let isLost: Bool
        /// What is to be done once more, before all that came later.
        var again: [Job] = []
    }

    /// What the pool's connections do.
    struct Work: Sendable {
        /// The most threads, each with a connection once there is something for it to do.
        let size: Int
        /// Makes a connection.
        let open: @Sendable () throws(PostgreSQLFailure) -> Connected
        /// Whether a connection stands that nobody used for a while.
        let stands: @Sendable (Connected) -> Bool
        /// Takes from the front what can be done in one go.
        let take: @Sendable (inout [Job]) -> [Job]
        /// Does it.
        let perform: @Sendable (Connected, [Job]) -> Verdict
        /// Tells a job that it will not be done.
        let refuse: @Sendable (Job, PostgreSQLFailure) -> Void
    }

    private struct Queue {
        var jobs: [Job] = []
        /// Threads that sleep until they are woken.
        var idle = 0
        /// Threads that have a connection.
        var connected = 0
        /// Why there is no connection at all; nothing while there may be one.
        var down: PostgreSQLFailure?
        var isClosed = false

        /// Whether there was a sleeping thread, which is to be woken then.
        mutating func takeIdle() -> Bool {
            guard idle > 0 else { return false }
            idle -= 1
            return true
        }
    }

    private let queue = Mutex(Queue())
    private let semaphore = Semaphore()
    /// What a thread that waits before it tries again is woken by.
    private let pause = Semaphore()
    private let threads = Mutex<[WorkerThread]>([])
    private let work: Work

    /// - Parameter open: connections that are there already.
    init(_ work: Work, open: [Connected] = []) throws(PostgreSQLFailure) {
        self.work = work
        queue.withLock { $0.connected = open.count }
        for index in 0..<work.size {
            let ready = open.indices.contains(index) ? open[index] : nil
            guard let started = WorkerThread({ self.run(ready) }) else {
                close()
                throw PostgreSQLFailure(extent: .connection, code: "thread")
            }
            threads.withLock { $0.append(started) }
        }
    }

    /// Hands a job over; it is done or refused.
    func submit(_ job: Job) {
        let (refusal, wakes) = queue.withLock { queue -> (PostgreSQLFailure?, Bool) in
            if queue.isClosed { return (.closed, false) }
            if let down = queue.down { return (down, false) }
            queue.jobs.append(job)
            return (nil, queue.takeIdle())
        }
        // Who is woken wants the lock at once.
        if wakes { semaphore.post() }
        if let refusal { work.refuse(job, refusal) }
    }

    /// How many jobs wait for a thread to take them.
    var waiting: Int { queue.withLock { $0.jobs.count } }

    /// Does what is waiting, then ends the threads; the second time it does nothing.
    func close() {
        queue.withLock { $0.isClosed = true }
        let ending = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for _ in ending {
            semaphore.post()
            pause.post()
        }
        for thread in ending { thread.join() }
    }

    private func run(_ first: Connected?) {
        var connected = first
        while let jobs = next() {
            if let standing = connected, !work.stands(standing) {
                connected = nil
                lose()
            }
            if connected == nil {
                do throws(PostgreSQLFailure) { connected = try connect() } catch {
                    for job in leave(jobs, because: error) { work.refuse(job, error) }
                    connected = reconnect()
                    continue
                }
            }
            guard let ready = connected else { continue }
            let verdict = work.perform(ready, jobs)
            if verdict.isLost {
                connected = nil
                lose()
            }
            if !verdict.again.isEmpty {
                queue.withLock { $0.jobs.insert(contentsOf: verdict.again, at: 0) }
            }
        }
    }

    /// What can be done in one go, once there is something; nothing when the end has come.
    private func next() -> [Job]? {
        while true {
            let (jobs, wakes, isClosed) = queue.withLock { queue -> ([Job], Bool, Bool) in
                guard queue.jobs.isEmpty else {
                    let jobs = work.take(&queue.jobs)
                    return (jobs, !queue.jobs.isEmpty && queue.takeIdle(), false)
                }
                if !queue.isClosed { queue.idle += 1 }
                return ([], false, queue.isClosed)
            }
            if wakes { semaphore.post() }
            if !jobs.isEmpty { return jobs }
            if isClosed { return nil }
            semaphore.wait()
        }
    }

    private func connect() throws(PostgreSQLFailure) -> Connected {
        let connected = try work.open()
        queue.withLock { queue in
            queue.connected += 1
            queue.down = nil
        }
        return connected
    }

    private func lose() { queue.withLock { $0.connected -= 1 } }

    /// Leaves jobs to the threads that have a connection.
    ///
    /// - Returns: all that is to be refused, when none has.
    private func leave(_ jobs: [Job], because failure: PostgreSQLFailure) -> [Job] {
        let (refused, wakes) = queue.withLock { queue -> ([Job], Bool) in
            if queue.connected > 0 {
                queue.jobs.insert(contentsOf: jobs, at: 0)
                return ([], queue.takeIdle())
            }
            queue.down = failure
            defer { queue.jobs = [] }
            return (jobs + queue.jobs, false)
        }
        if wakes { semaphore.post() }
        return refused
    }

    /// Tries until there is a connection again; nothing when the end has come.
    private func reconnect() -> Connected? {
        var delay = 50
        while !queue.withLock({ $0.isClosed }) {
            // Processes that lost the server together do not come back in step.
            pause.wait(atMost: Int.random(in: delay / 2...delay))
            delay = min(2 * delay, 2_000)
            do throws(PostgreSQLFailure) { return try connect() } catch {
                queue.withLock { if $0.connected == 0 { $0.down = error } }
            }
        }
        return nil
    }
}
