internal import Synchronization
internal import Verification
internal import WatchwordSystem

/// The result of a task for which a thread waits.
final class Awaited<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, VerifierError>?>(nil)
    private let isThere = Semaphore()

    /// Wakes the thread.
    func finish(_ result: Result<Value, VerifierError>) {
        self.result.withLock { $0 = result }
        isThere.post()
    }

    /// Waits for the result.
    func wait() -> Result<Value, VerifierError> {
        while true {
            isThere.wait()
            if let result = result.withLock({ $0 }) { return result }
        }
    }
}
