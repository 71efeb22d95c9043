internal import POSIX

/// How often, and how far apart, a transaction is tried that the database gave up for another one.
struct Retries {
    private let deadline: ContinuousClock.Instant
    private var delay = 2
    private let pause = Semaphore()

    /// - Parameter patience: milliseconds from now on in which it may be tried again.
    init(patience: Int) { deadline = .now + .milliseconds(patience) }

    /// Waits before the next try, longer each time, and not in step with others.
    ///
    /// - Returns: false when there is no time left for one.
    mutating func wait() -> Bool {
        let chosen = Int.random(in: delay / 2...delay)
        guard ContinuousClock.Instant.now + .milliseconds(chosen) < deadline else { return false }
        pause.wait(atMost: chosen)
        delay = min(2 * delay, 200)
        return true
    }
}
