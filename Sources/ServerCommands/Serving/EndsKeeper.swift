import POSIX
import Synchronization

/// Writes down where the events end: each minute, and whenever many of them came.
///
/// It does so on a thread of its own, and whoever decides does not wait for it. What a server that is
/// killed can't know after its next start is bounded by both: what came within a minute, and no more
/// than so many events and those that came while the file was being written.
final class EndsKeeper: Sendable {
    /// So many events are a reason to write.
    static let events = 1_000
    /// The file is written after this time in any case.
    static let interval = Duration.seconds(60)

    private let semaphore = Semaphore()
    /// Whether somebody asked since it was begun last.
    private let isWanted = Atomic(false)
    private let isOver = Atomic(false)
    private let thread = Mutex<WorkerThread?>(nil)

    /// Starts the thread; nothing when the system has none left.
    ///
    /// - Parameter write: does it.
    init?(every interval: Duration = EndsKeeper.interval, write: @escaping @Sendable () -> Void) {
        guard let started = WorkerThread({ self.run(interval, write) }) else { return nil }
        thread.withLock { $0 = started }
    }

    /// Asks for it, and does not wait for it.
    func ask() {
        if !isWanted.exchange(true, ordering: .sequentiallyConsistent) { semaphore.post() }
    }

    /// Waits until what was begun is done; nothing is begun any more.
    func stop() {
        isOver.store(true, ordering: .sequentiallyConsistent)
        semaphore.post()
        let ending = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ending?.join()
    }

    private func run(_ interval: Duration, _ write: () -> Void) {
        while true {
            semaphore.wait(timeout: interval)
            if isOver.load(ordering: .sequentiallyConsistent) { return }
            // Before it is begun: what comes meanwhile asks anew.
            isWanted.store(false, ordering: .sequentiallyConsistent)
            write()
        }
    }
}
