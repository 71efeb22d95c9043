internal import CLinux
internal import Glibc

/// Lets a thread sleep until there is something to do.
@safe public final class Semaphore: @unchecked Sendable {
    // Sendable by hand: the kernel and libc see to it that any thread may post and wait.
    private let semaphore: UnsafeMutablePointer<sem_t>

    /// Starts with nobody to be let on.
    public init() {
        unsafe semaphore = .allocate(capacity: 1)
        let done = unsafe sem_init(semaphore, 0, 0)
        precondition(done == 0, "a semaphore that starts at 0 can be had")
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// Lets one waiting go on, now or when it comes.
    public func post() { unsafe sem_post(semaphore) }

    /// Waits for a post; a signal does not end it.
    public func wait() { while unsafe sem_wait(semaphore) != 0 {} }

    /// Waits for a post, at most so long, whatever becomes of the time of day; a signal ends
    /// it early.
    public func wait(atMost milliseconds: Int) {
        _ = unsafe linux_wait_for_post(semaphore, milliseconds)
    }
}
