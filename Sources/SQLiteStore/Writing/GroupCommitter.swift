internal import Glibc
internal import POSIX
internal import Synchronization
internal import Verification

/// Takes everybody's commits to the one connection that writes.
///
/// Whatever came while a transaction was on its way to the disk goes into the next one together, on a
/// thread of its own. So a single caller never waits for company, and many share the price of being
/// durable. Who comes alone does not change threads either: two changes of them, there and back, are
/// a fifth of what a durable decision takes.
final class GroupCommitter: Sendable {
    typealias Answer = Result<CommitOutcome, StoreFailure>

    private enum Job {
        case commit([AuthenticatedChange], CheckedContinuation<Answer, Never>)
        /// Something else that writes, or must not run beside a writer.
        case work(@Sendable (DatabaseWriter) -> Void)
    }

    private struct Queue {
        var jobs: [Job] = []
        var isClosed = false
        /// The writer, while nobody uses it.
        var idle: DatabaseWriter?
        /// How many in a row were alone with what they did, from beginning to end.
        var alone = GroupCommitter.quietness

        var isQuiet: Bool { alone >= GroupCommitter.quietness }
    }

    /// The most commits that share one transaction: one that grows for ever would keep its first
    /// member waiting.
    private static let largestBatch = 256

    /// After so many in a row who were alone, the next one is taken to be so, too.
    private static let quietness = 8

    /// Whether a caller's thread may wait for the disk.
    ///
    /// Swift has as many threads for tasks as there are processors: a single one goes on with other
    /// tasks instead, whose commits join in.
    private static let hasThreadsToSpare = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1

    private let queue = Mutex(Queue())
    private let semaphore = Semaphore()
    private let thread = Mutex<WorkerThread?>(nil)

    init() {}

    /// Starts the thread; `writer` is used by it, or by one caller at a time.
    func start(with writer: DatabaseWriter) throws(StoreFailure) {
        queue.withLock { $0.idle = writer }
        guard let started = WorkerThread({ self.run() }) else {
            throw StoreFailure(.unavailable, code: "thread")
        }
        thread.withLock { $0 = started }
    }

    /// Does the changes, or none of them; returns when they are durable.
    func commit(
        _ changes: [AuthenticatedChange]
    ) async throws(StoreFailure) -> CommitOutcome {
        if let answer = commitHere(changes) { return try answer.get() }
        return try await withTurn(changes).get()
    }

    /// Does it on the caller's thread; nothing when others are about.
    private func commitHere(_ changes: [AuthenticatedChange]) -> Answer? {
        guard let writer = borrow() else { return nil }
        // Another process that writes just now is waited for elsewhere.
        let answer = writer.commitAtOnce(changes)
        giveBack(writer, isQuiet: answer != nil)
        return answer
    }

    private func withTurn(_ changes: [AuthenticatedChange]) async -> Answer {
        await withCheckedContinuation { continuation in
            if !submit(.commit(changes, continuation)) {
                continuation.resume(returning: .failure(Self.isClosed))
            }
        }
    }

    /// Reads by the connection that writes, whose pages are those it wrote last and need not be
    /// fetched again; nothing when others are about.
    func readHere<Found>(
        _ body: (SQLiteSession) throws(SQLiteFailure) -> Found
    ) throws(SQLiteFailure) -> Found? {
        guard let writer = borrow() else { return nil }
        defer { giveBack(writer, isQuiet: true) }
        try writer.session.connection.expectInPlace()
        return try body(writer.session)
    }

    private func borrow() -> DatabaseWriter? {
        guard Self.hasThreadsToSpare else { return nil }
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

    /// Does what is waiting, then ends the thread and closes the writer; the second time it does
    /// nothing.
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

    /// How many jobs wait for the thread to take them.
    var waiting: Int { queue.withLock { $0.jobs.count } }

    private static let isClosed = StoreFailure(.unavailable, code: "closed")

    private func submit(_ job: Job) -> Bool {
        let (isTaken, isFirst) = queue.withLock { queue in
            guard !queue.isClosed else { return (false, false) }
            queue.jobs.append(job)
            return (true, queue.jobs.count == 1 && queue.idle != nil)
        }
        // Who is not the first knows that the thread is awake, or being woken; and who has the writer
        // looks whether somebody came.
        if isFirst { semaphore.post() }
        return isTaken
    }

    /// Waits for the writer and for something to do with it; nothing when the end has come.
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

    /// What came in the meantime; the writer is given back when that is nothing.
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
