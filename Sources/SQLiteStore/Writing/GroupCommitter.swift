internal import POSIX
internal import Synchronization
internal import Verification

/// Takes everybody's commits to the one thread that writes.
///
/// Whatever came while a transaction was on its way to the disk goes into the next one together. So
/// a single caller never waits for company, and many share the price of being durable.
final class GroupCommitter: Sendable {
    typealias Answer = Result<CommitOutcome, StoreFailure>

    private enum Job {
        case commit([StoreChange], CheckedContinuation<Answer, Never>)
        /// Something else that writes, or must not run beside a writer.
        case work(@Sendable (DatabaseWriter) -> Void)
    }

    private struct Queue {
        var jobs: [Job] = []
        var isClosed = false
    }

    /// The most commits that share one transaction: one that grows for ever would keep its first
    /// member waiting.
    private static let largestBatch = 256

    private let queue = Mutex(Queue())
    private let semaphore = Semaphore()
    private let thread = Mutex<WorkerThread?>(nil)

    init() {}

    /// Starts the thread, which keeps `writer` to itself.
    func start(with writer: DatabaseWriter) throws(StoreFailure) {
        guard let started = WorkerThread({ self.run(writer) }) else {
            throw StoreFailure(.unavailable, code: "thread")
        }
        thread.withLock { $0 = started }
    }

    /// Does the changes, or none of them; returns when they are durable.
    func commit(_ changes: [StoreChange]) async throws(StoreFailure) -> CommitOutcome {
        try await withCheckedContinuation { continuation in
            if !submit(.commit(changes, continuation)) {
                continuation.resume(returning: .failure(Self.isClosed))
            }
        }.get()
    }

    /// Does something else on the writer's thread.
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
            if !isTaken { continuation.resume(returning: .failure(Self.isClosed)) }
        }.get()
    }

    /// Does what is waiting, then ends the thread; the second time it does nothing.
    func close() {
        queue.withLock { $0.isClosed = true }
        semaphore.post()
        let ending = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ending?.join()
    }

    /// How many jobs wait for the thread to take them.
    var waiting: Int { queue.withLock { $0.jobs.count } }

    private static let isClosed = StoreFailure(.unavailable, code: "closed")

    private func submit(_ job: Job) -> Bool {
        let (isTaken, isFirst) = queue.withLock { queue in
            guard !queue.isClosed else { return (false, false) }
            queue.jobs.append(job)
            return (true, queue.jobs.count == 1)
        }
        // Who is not the first knows that the thread is awake, or being woken.
        if isFirst { semaphore.post() }
        return isTaken
    }

    /// All that is waiting; nothing when the end has come.
    private func next() -> [Job]? {
        while true {
            let (jobs, isClosed) = queue.withLock { queue in
                defer { queue.jobs = [] }
                return (queue.jobs, queue.isClosed)
            }
            if !jobs.isEmpty { return jobs }
            if isClosed { return nil }
            semaphore.wait()
        }
    }

    private func run(_ writer: DatabaseWriter) {
        while let jobs = next() {
            var members: [[StoreChange]] = []
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
        writer.close()
    }
}
