import Synchronization
import WatchwordSystem

/// Records the ends of the event chains once a minute, and after every 1,000 events.
///
/// It uses a separate thread, so decisions do not wait for it. If a server is killed, the recorded
/// ends may lack the events of the last minute (at most 1,000) and those that arrived during a
/// write.
final class CheckpointRecorder: Sendable {
    /// The number of events after which it writes.
    static let events = 1_000
    /// The file is written at least this often.
    static let interval = Duration.seconds(60)

    private let semaphore = Semaphore()
    /// Whether a write was requested since the last one began.
    private let isWanted = Atomic(false)
    private let isOver = Atomic(false)
    private let thread = Mutex<WorkerThread?>(nil)

    /// Starts the thread; returns `nil` if the system cannot create one.
    ///
    /// - Parameter write: records the ends.
    init?(
        every interval: Duration = CheckpointRecorder.interval,
        write: @escaping @Sendable () -> Void
    ) {
        guard let started = WorkerThread({ self.run(interval, write) }) else { return nil }
        thread.withLock { $0 = started }
    }

    /// Requests a write without waiting for it.
    func ask() {
        if !isWanted.exchange(true, ordering: .sequentiallyConsistent) { semaphore.post() }
    }

    /// Waits for the write in progress and ends the thread.
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
            // Reset this first, so that a request during the write causes another write.
            isWanted.store(false, ordering: .sequentiallyConsistent)
            write()
        }
    }
}
