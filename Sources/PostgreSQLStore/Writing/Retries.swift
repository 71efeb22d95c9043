internal import POSIX

/// The schedule for retrying a transaction that the database aborted in favour of another one.
struct Retries {
    private let deadline: ContinuousClock.Instant
    private var delay = Duration.milliseconds(2)
    private let pause = Semaphore()

    /// - Parameter timeout: how long from now on the transaction may be retried.
    init(timeout: Duration) { deadline = .now + timeout }

    /// Waits before the next attempt: longer each time, with a random factor so that processes do
    /// not retry in step.
    ///
    /// - Returns: false if no time is left for another attempt.
    mutating func wait() -> Bool {
        let chosen = delay * Double.random(in: 0.5...1)
        guard ContinuousClock.Instant.now + chosen < deadline else { return false }
        pause.wait(timeout: chosen)
        delay = min(delay * 2, .milliseconds(200))
        return true
    }
}
