internal import SQLStore
internal import Synchronization
internal import Verification
internal import WatchwordSystem

/// A fixed number of connections, each with its own thread, that share a queue.
///
/// A thread takes as many waiting jobs as it can run together: a single caller never waits for
/// others, and many callers share the round trips. If no connection can be opened, or the server
/// does not answer, calls fail immediately until the server answers again; one thread keeps
/// retrying at growing intervals.
final class ConnectionPool<Connected: Sendable, Job: Sendable>: Sendable {
    private struct Queue {
        var jobs: [Job] = []
        /// The semaphores of the sleeping threads, one per thread.
        ///
        /// With one shared semaphore, a thread that only tests its connection and goes back to
        /// sleep could consume a wake-up meant for another thread.
        var idle: [Semaphore] = []
        /// The number of threads that have a connection.
        var connected = 0
        /// Why the server cannot be used; `nil` while a connection may work.
        var down: StoreFailure?
        /// The number of timeouts so far.
        ///
        /// A thread whose connection last answered before the latest timeout tests the connection
        /// before it takes jobs.
        var silences = 0
        var isClosed = false
    }

    /// A thread's connection, and the number of timeouts before it was last known to answer.
    private struct Held {
        let connected: Connected
        var silences = 0
    }

    private let queue = Mutex(Queue())
    /// The semaphore that each thread sleeps on.
    private let semaphores: [Semaphore]
    /// Wakes a thread that is waiting before its next attempt to connect.
    private let pause = Semaphore()
    private let threads = Mutex<[WorkerThread]>([])
    private let work: Work

    /// - Parameter open: connections that are already open.
    init(_ work: Work, open: [Connected] = []) throws(StoreFailure) {
        self.work = work
        semaphores = (0..<work.size).map { _ in Semaphore() }
        queue.withLock { $0.connected = open.count }
        for index in 0..<work.size {
            let ready = open.indices.contains(index) ? open[index] : nil
            let semaphore = semaphores[index]
            let started = WorkerThread({
                self.run(ready.map { Held(connected: $0) }, semaphore)
            })
            guard let started else {
                close()
                throw .noThread
            }
            threads.withLock { $0.append(started) }
        }
    }

    /// Queues a job; it is either run or refused.
    func submit(_ job: Job) {
        let (refusal, sleeping) = queue.withLock { queue -> (StoreFailure?, Semaphore?) in
            if queue.isClosed { return (.closed, nil) }
            if let down = queue.down { return (down, nil) }
            queue.jobs.append(job)
            return (nil, queue.idle.popLast())
        }
        // Posted outside the lock, because the thread that wakes up takes the lock at once.
        sleeping?.post()
        if let refusal { work.refuse(job, refusal) }
    }

    /// The number of jobs waiting for a thread.
    var waiting: Int { queue.withLock { $0.jobs.count } }

    /// Completes the waiting jobs, then ends the threads.
    ///
    /// A second call does nothing.
    func close() {
        queue.withLock { $0.isClosed = true }
        let ending = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for semaphore in semaphores {
            semaphore.post()
            pause.post()
        }
        for thread in ending { thread.join() }
    }

    private func run(_ first: Held?, _ semaphore: Semaphore) {
        var held = first
        while let turn = next(held, semaphore) {
            switch turn {
            case .doubt: held = held.flatMap(asked)
            case .jobs(let jobs): held = perform(jobs, on: held)
            }
        }
    }

    /// Runs or refuses `jobs`, and returns the connection that the thread has afterwards.
    private func perform(_ jobs: [Job], on standing: Held?) -> Held? {
        var held = standing
        // A new connection is safe here, because nothing has been sent. If a connection is lost
        // after that, a commit may have taken effect, so it is not repeated.
        if let idle = standing, !work.stands(idle.connected) {
            held = nil
            lose()
        }
        if held == nil {
            do throws(StoreFailure) { held = try connect(failsFast: true) } catch {
                for job in leave(jobs, because: error) { work.refuse(job, error) }
                return reconnect(after: .milliseconds(50))
            }
        }
        guard let ready = held else { return nil }
        let verdict = work.perform(ready.connected, jobs)
        if verdict.isUnresponsive {
            for job in noteTimeout(verdict.again) { work.refuse(job, .timedOut) }
            return reconnect(after: .zero)
        }
        if !verdict.again.isEmpty {
            queue.withLock { $0.jobs.insert(contentsOf: verdict.again, at: 0) }
        }
        guard verdict.isLost else { return ready }
        lose()
        return nil
    }

    /// The next action of a thread.
    private enum Turn {
        /// Run these jobs together.
        case jobs([Job])
        /// Test whether the server answers on the thread's connection.
        case doubt
    }

    /// Waits for jobs or a test; returns `nil` when the pool is closed.
    private func next(_ held: Held?, _ semaphore: Semaphore) -> Turn? {
        while true {
            let (turn, sleeping, isClosed) = queue.withLock { queue -> (Turn?, Semaphore?, Bool) in
                if let held, held.silences != queue.silences, !queue.isClosed {
                    return (.doubt, nil, false)
                }
                guard queue.jobs.isEmpty else {
                    let jobs = work.take(&queue.jobs)
                    return (.jobs(jobs), queue.jobs.isEmpty ? nil : queue.idle.popLast(), false)
                }
                if !queue.isClosed { queue.idle.append(semaphore) }
                return (nil, nil, queue.isClosed)
            }
            sleeping?.post()
            if let turn { return turn }
            if isClosed { return nil }
            semaphore.wait()
        }
    }

    private func connect(failsFast: Bool) throws(StoreFailure) -> Held {
        let silences = queue.withLock { $0.silences }
        let connected = try work.open(failsFast)
        queue.withLock { queue in
            queue.connected += 1
            queue.down = nil
        }
        return Held(connected: connected, silences: silences)
    }

    private func lose() { queue.withLock { $0.connected -= 1 } }

    /// Returns jobs to the queue for the threads that have a connection.
    ///
    /// - Returns: the jobs to refuse, if no thread has a connection.
    private func leave(_ jobs: [Job], because failure: StoreFailure) -> [Job] {
        let (refused, sleeping) = queue.withLock { queue -> ([Job], Semaphore?) in
            if queue.connected > 0 {
                queue.jobs.insert(contentsOf: jobs, at: 0)
                return ([], queue.idle.popLast())
            }
            queue.down = failure
            defer { queue.jobs = [] }
            return (jobs + queue.jobs, nil)
        }
        sleeping?.post()
        return refused
    }

    /// Gives up a connection that timed out, and makes the other threads test their connections.
    ///
    /// - Returns: the jobs to refuse.
    private func noteTimeout(_ jobs: [Job]) -> [Job] {
        let (refused, sleeping) = queue.withLock { queue -> ([Job], [Semaphore]) in
            queue.connected -= 1
            queue.silences += 1
            queue.down = .timedOut
            defer { (queue.jobs, queue.idle) = ([], []) }
            return (jobs + queue.jobs, queue.idle)
        }
        for semaphore in sleeping { semaphore.post() }
        return refused
    }

    /// Returns the connection if the server answers on it; otherwise gives it up.
    private func asked(_ held: Held) -> Held? {
        let silences = queue.withLock { $0.silences }
        let isAnswered = work.answers(held.connected)
        queue.withLock { queue in
            if isAnswered { queue.down = nil } else { queue.connected -= 1 }
        }
        return isAnswered ? Held(connected: held.connected, silences: silences) : nil
    }

    /// Retries until there is a connection; returns `nil` when the pool is closed.
    ///
    /// - Parameter first: how long to wait before the first attempt.
    private func reconnect(after first: Duration) -> Held? {
        var delay = first
        while !queue.withLock({ $0.isClosed }) {
            // The delay is random, so that processes that lost the server together do not all
            // reconnect at the same moment.
            if delay > .zero { pause.wait(timeout: delay * Double.random(in: 0.5...1)) }
            delay = min(max(delay * 2, .milliseconds(50)), .seconds(2))
            do throws(StoreFailure) { return try connect(failsFast: false) } catch {
                queue.withLock { if $0.connected == 0 { $0.down = error } }
            }
        }
        return nil
    }
}

extension ConnectionPool {
    /// The result of running several jobs.
    struct Verdict {
        /// Whether the connection can no longer be used.
        let isLost: Bool
        /// Whether the server did not answer in time, so that other jobs would time out as well.
        var isUnresponsive = false
        /// The jobs to repeat before all later ones.
        ///
        /// If the server did not answer, the pool refuses them instead, because their callers have
        /// already waited for the full timeout. The pool does so only after it has recorded the
        /// timeout, so that the callers' next calls fail immediately.
        var again: [Job] = []
    }

    /// The operations of the pool's connections.
    struct Work: Sendable {
        /// The number of threads; each opens a connection when it has jobs to run.
        let size: Int
        /// Opens a connection; the argument is whether a caller is waiting for it.
        let open: @Sendable (Bool) throws(StoreFailure) -> Connected
        /// Whether an idle connection is still open, as far as is known.
        let stands: @Sendable (Connected) -> Bool
        /// Whether the server answers on a connection; called after a timeout on a different
        /// connection.
        let answers: @Sendable (Connected) -> Bool
        /// Removes from the front of the queue the jobs that can run together.
        let take: @Sendable (inout [Job]) -> [Job]
        let perform: @Sendable (Connected, [Job]) -> Verdict
        /// Tells a job that it will not run.
        let refuse: @Sendable (Job, StoreFailure) -> Void
    }
}
