internal import Glibc
internal import SQLStore
internal import Synchronization
internal import Verification
internal import WatchwordSystem

/// Passes all callers' commits to the only connection that writes.
///
/// Commits that arrive while a transaction is being written to disk share the next transaction, on
/// the committer's own thread. A single caller never waits for others, and many callers share the
/// cost of durability. A lone caller commits on its own thread: switching to the committer's thread
/// and back takes a fifth of the time of a durable decision.
final class GroupCommitter: Sendable {
    typealias Answer = Result<CommitOutcome, StoreFailure>

    private enum Job {
        case commit([AuthenticatedChange], CheckedContinuation<Answer, Never>)
        /// Work other than commits that writes, or must not run at the same time as a writer.
        case work(@Sendable (DatabaseWriter) -> Void)
    }

    private struct Queue {
        var jobs: [Job] = []
        var isClosed = false
        /// The writer, while it is idle.
        var idle: DatabaseWriter?
        /// The number of consecutive jobs that ran while no other caller was waiting.
        var alone = GroupCommitter.quietness

        var isQuiet: Bool { alone >= GroupCommitter.quietness }
    }

    /// The largest number of commits in one transaction.
    ///
    /// Without a limit, a growing transaction would keep its first member waiting.
    private static let largestBatch = 256

    /// After this many consecutive jobs without another caller, the next caller is also assumed to
    /// be alone.
    private static let quietness = 8

    /// Whether a caller's thread may block on the disk.
    ///
    /// Swift runs tasks on as many threads as there are processors. If there is only one thread, it
    /// must not block, but continue with other tasks, whose commits join the same transaction.
    private static let hasSpareThreads = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1

    private let queue = Mutex(Queue())
    private let semaphore = Semaphore()
    private let thread = Mutex<WorkerThread?>(nil)

    init() {}

    /// Starts the thread.
    ///
    /// The thread or one caller at a time uses `writer`.
    func start(with writer: DatabaseWriter) throws(StoreFailure) {
        queue.withLock { $0.idle = writer }
        guard let started = WorkerThread({ self.run() }) else {
            throw .noThread
        }
        thread.withLock { $0 = started }
    }

    /// Applies all the changes or none of them; returns when they are durable.
    func commit(
        _ changes: [AuthenticatedChange]
    ) async throws(StoreFailure) -> CommitOutcome {
        if let answer = commitOnCallerThread(changes) { return try answer.get() }
        return try await withTurn(changes).get()
    }

    /// Commits on the caller's thread; returns `nil` if the writer is busy.
    private func commitOnCallerThread(_ changes: [AuthenticatedChange]) -> Answer? {
        guard let writer = borrow() else { return nil }
        // If another process is writing, the committer's thread waits for it.
        let answer = writer.commitImmediately(changes)
        giveBack(writer, isQuiet: answer != nil)
        return answer
    }

    private func withTurn(_ changes: [AuthenticatedChange]) async -> Answer {
        await withCheckedContinuation { continuation in
            if !submit(.commit(changes, continuation)) {
                continuation.resume(returning: .failure(.closed))
            }
        }
    }

    /// Reads on the write connection, whose cache holds the pages that it wrote most recently;
    /// returns `nil` if the writer is busy.
    func readHere<Found>(
        _ body: (SQLiteSession) throws(StoreFailure) -> Found
    ) throws(StoreFailure) -> Found? {
        guard let writer = borrow() else { return nil }
        defer { giveBack(writer, isQuiet: true) }
        try writer.session.connection.expectInPlace()
        return try body(writer.session)
    }

    private func borrow() -> DatabaseWriter? {
        guard Self.hasSpareThreads else { return nil }
        return queue.withLock { queue in
            guard queue.isQuiet, queue.jobs.isEmpty, !queue.isClosed else { return nil }
            defer { queue.idle = nil }
            return queue.idle
        }
    }

    private func giveBack(_ writer: DatabaseWriter, isQuiet: Bool) {
        let isWanted = queue.withLock { queue in
            queue.idle = writer
            if !isQuiet || !queue.jobs.isEmpty { queue.alone = 0 }
            return !queue.jobs.isEmpty || queue.isClosed
        }
        if isWanted { semaphore.post() }
    }

    /// Runs other work on the writer's thread.
    func perform<Done: Sendable>(
        _ work: @escaping @Sendable (DatabaseWriter) throws(StoreFailure) -> Done
    ) async throws(StoreFailure) -> Done {
        try await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Done, StoreFailure>, Never>) in
            let isTaken = submit(
                .work { writer in
                    continuation.resume(
                        returning: Result { () throws(StoreFailure) in try work(writer) })
                })
            if !isTaken { continuation.resume(returning: .failure(.closed)) }
        }.get()
    }

    /// Completes the waiting jobs, then ends the thread and closes the writer.
    ///
    /// A second call does nothing.
    func close() {
        queue.withLock { $0.isClosed = true }
        semaphore.post()
        let ending = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ending?.join()
        let writer = queue.withLock { queue in
            defer { queue.idle = nil }
            return queue.idle
        }
        writer?.close()
    }

    /// The number of jobs waiting for the thread.
    var waiting: Int { queue.withLock { $0.jobs.count } }

    private func submit(_ job: Job) -> Bool {
        let (isTaken, isFirst) = queue.withLock { queue in
            guard !queue.isClosed else { return (false, false) }
            queue.jobs.append(job)
            return (true, queue.jobs.count == 1 && queue.idle != nil)
        }
        // Only the first job needs to wake the thread: for later jobs the thread is awake or being
        // woken, and a borrower checks for new jobs when it returns the writer.
        if isFirst { semaphore.post() }
        return isTaken
    }

    /// Waits until the writer is idle and there are jobs; returns `nil` when the committer is
    /// closed.
    private func next() -> (DatabaseWriter, [Job])? {
        while true {
            let (found, isEnd): ((DatabaseWriter, [Job])?, Bool) = queue.withLock { queue in
                guard let writer = queue.idle else { return (nil, false) }
                guard !queue.jobs.isEmpty else { return (nil, queue.isClosed) }
                defer { (queue.idle, queue.jobs) = (nil, []) }
                return ((writer, queue.jobs), false)
            }
            if found != nil || isEnd { return found }
            semaphore.wait()
        }
    }

    /// The jobs that have arrived in the meantime; if there are none, makes the writer idle and
    /// returns `nil`.
    private func more(for writer: DatabaseWriter, after count: Int) -> [Job]? {
        queue.withLock { queue in
            queue.alone = count == 1 && queue.jobs.isEmpty ? queue.alone + 1 : 0
            guard queue.jobs.isEmpty else {
                defer { queue.jobs = [] }
                return queue.jobs
            }
            queue.idle = writer
            return nil
        }
    }

    private func run() {
        while let (writer, first) = next() {
            var jobs: [Job]? = first
            while let taken = jobs {
                perform(taken, on: writer)
                jobs = more(for: writer, after: taken.count)
            }
        }
    }

    private func perform(_ jobs: [Job], on writer: DatabaseWriter) {
        var members: [[AuthenticatedChange]] = []
        var waiting: [CheckedContinuation<Answer, Never>] = []
        func flush() {
            for (continuation, answer) in zip(waiting, writer.commit(members)) {
                continuation.resume(returning: answer)
            }
            members = []
            waiting = []
        }
        for job in jobs {
            switch job {
            case .commit(let changes, let continuation):
                members.append(changes)
                waiting.append(continuation)
                if members.count == Self.largestBatch { flush() }
            case .work(let work):
                flush()
                work(writer)
            }
        }
        flush()
    }
}
