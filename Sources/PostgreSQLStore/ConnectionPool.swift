internal import POSIX
internal import Synchronization
internal import Verification

/// A fixed number of connections, each with a thread of its own, that share a queue.
///
/// A thread takes what waits, as much as its work can do in one go: so a single caller never waits for
/// company, and many share the round trips. When no connection can be had, or nobody answers on one,
/// calls fail at once until somebody answers again; one thread tries meanwhile, less and less often.
final class ConnectionPool<Connected: Sendable, Job: Sendable>: Sendable {
    private struct Queue {
        var jobs: [Job] = []
        /// What wakes the threads that sleep, each its own.
        ///
        /// Of one for all, a thread that did what was its own to do, as to ask on its connection, and slept
        /// again could take the post that was meant for another.
        var idle: [Semaphore] = []
        /// Threads that have a connection.
        var connected = 0
        /// Why there is no connection at all; nothing while there may be one.
        var down: PostgreSQLFailure?
        /// How often nobody answered; who has a connection from before asks on it first.
        var silences = 0
        var isClosed = false
    }

    /// A thread's connection, and how many silences it is younger than.
    private struct Held {
        let connected: Connected
        var silences = 0
    }

    private let queue = Mutex(Queue())
    /// What each thread sleeps on.
    private let semaphores: [Semaphore]
    /// What a thread that waits before it tries again is woken by.
    private let pause = Semaphore()
    private let threads = Mutex<[WorkerThread]>([])
    private let work: Work

    /// - Parameter open: connections that are there already.
    init(_ work: Work, open: [Connected] = []) throws(PostgreSQLFailure) {
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
                throw PostgreSQLFailure(extent: .connection, code: "thread")
            }
            threads.withLock { $0.append(started) }
        }
    }

    /// Hands a job over; it is done or refused.
    func submit(_ job: Job) {
        let (refusal, sleeping) = queue.withLock { queue -> (PostgreSQLFailure?, Semaphore?) in
            if queue.isClosed { return (.closed, nil) }
            if let down = queue.down { return (down, nil) }
            queue.jobs.append(job)
            return (nil, queue.idle.popLast())
        }
        // Who is woken wants the lock at once.
        sleeping?.post()
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

    /// Does or refuses `jobs`; the connection that the thread has afterwards.
    private func perform(_ jobs: [Job], on standing: Held?) -> Held? {
        var held = standing
        if let idle = standing, !work.stands(idle.connected) {
            held = nil
            lose()
        }
        if held == nil {
            do throws(PostgreSQLFailure) { held = try connect(inHaste: true) } catch {
                for job in leave(jobs, because: error) { work.refuse(job, error) }
                return reconnect(after: .milliseconds(50))
            }
        }
        guard let ready = held else { return nil }
        let verdict = work.perform(ready.connected, jobs)
        if verdict.isSilent {
            for job in noteSilence(verdict.again) { work.refuse(job, .timedOut) }
            return reconnect(after: .zero)
        }
        if !verdict.again.isEmpty {
            queue.withLock { $0.jobs.insert(contentsOf: verdict.again, at: 0) }
        }
        guard verdict.isLost else { return ready }
        lose()
        return nil
    }

    /// What a thread is to do.
    private enum Turn {
        /// What can be done in one go.
        case jobs([Job])
        /// Ask whether somebody answers on its connection.
        case doubt
    }

    /// What is to be done by a thread with this connection, once there is something; nothing when the
    /// end has come.
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

    private func connect(inHaste: Bool) throws(PostgreSQLFailure) -> Held {
        let silences = queue.withLock { $0.silences }
        let connected = try work.open(inHaste)
        queue.withLock { queue in
            queue.connected += 1
            queue.down = nil
        }
        return Held(connected: connected, silences: silences)
    }

    private func lose() { queue.withLock { $0.connected -= 1 } }

    /// Leaves jobs to the threads that have a connection.
    ///
    /// - Returns: all that is to be refused, when none has.
    private func leave(_ jobs: [Job], because failure: PostgreSQLFailure) -> [Job] {
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

    /// Gives up a connection on which nobody answered, and doubts the others.
    ///
    /// - Returns: all that is to be refused.
    private func noteSilence(_ jobs: [Job]) -> [Job] {
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

    /// The connection when somebody answers on it; it is given up otherwise.
    private func asked(_ held: Held) -> Held? {
        let silences = queue.withLock { $0.silences }
        let isAnswered = work.answers(held.connected)
        queue.withLock { queue in
            if isAnswered { queue.down = nil } else { queue.connected -= 1 }
        }
        return isAnswered ? Held(connected: held.connected, silences: silences) : nil
    }

    /// Tries until there is a connection again; nothing when the end has come.
    ///
    /// - Parameter first: how long to wait before the first attempt.
    private func reconnect(after first: Duration) -> Held? {
        var delay = first
        while !queue.withLock({ $0.isClosed }) {
            // Processes that lost the server together do not come back in step.
            if delay > .zero { pause.wait(timeout: delay * Double.random(in: 0.5...1)) }
            delay = min(max(delay * 2, .milliseconds(50)), .seconds(2))
            do throws(PostgreSQLFailure) { return try connect(inHaste: false) } catch {
                queue.withLock { if $0.connected == 0 { $0.down = error } }
            }
        }
        return nil
    }
}
