internal import CLinux
internal import Glibc

/// Lets a thread sleep until it is woken.
@safe public final class Semaphore: @unchecked Sendable {
    // `@unchecked Sendable`: libc and the kernel let any thread post and wait.
    private let semaphore: UnsafeMutablePointer<sem_t>

    /// Creates a semaphore with the value 0.
    public init() {
        unsafe semaphore = .allocate(capacity: 1)
        let done = unsafe sem_init(semaphore, 0, 0)
        precondition(done == 0, "the semaphore was created")
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// Wakes one waiting thread, or the next one that waits.
    public func post() { unsafe sem_post(semaphore) }

    /// Waits for a post; signals do not interrupt it.
    public func wait() { while unsafe sem_wait(semaphore) != 0 {} }

    /// Waits for a post or until `timeout` expires.
    ///
    /// Changes to the system time have no effect; a signal ends the wait early.
    public func wait(timeout: Duration) {
        _ = unsafe linux_wait_for_post(semaphore, Int(timeout.millisecondsRoundedUp))
    }
}
