internal import POSIX

/// How often, and how far apart, a transaction is tried that the database gave up for another one.
struct Retries {
    private let deadline: ContinuousClock.Instant
    private var delay = Duration.milliseconds(2)
    private let pause = Semaphore()

    /// - Parameter timeout: how long from now on it may be tried again.
    init(timeout: Duration) { deadline = .now + timeout }

    /// Waits before the next try, longer each time, and not in step with others.
    ///
    /// - Returns: false when there is no time left for one.
    mutating func wait() -> Bool {
        let chosen = delay * Double.random(in: 0.5...1)
        guard ContinuousClock.Instant.now + chosen < deadline else { return false }
        pause.wait(timeout: chosen)
        delay = min(delay * 2, .milliseconds(200))
        return true
    }
}
