internal import CLinux
internal import Glibc
internal import Synchronization

/// A separate thread for blocking calls, so that they do not occupy Swift's task pool.
@safe public final class WorkerThread: @unchecked Sendable {
    // `@unchecked Sendable`: the thread handle is written only in the initialiser.
    private let thread: pthread_t

    /// Starts a thread that runs `body` and ends.
    ///
    /// - Returns: `nil` if no thread could be created.
    public init?(_ body: @escaping @Sendable () -> Void) {
        let body = Body(body)
        var started = pthread_t()
        // Signals are delivered to the program's other threads.
        var every = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&every)
        unsafe pthread_sigmask(SIG_SETMASK, &every, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let argument = unsafe Unmanaged.passRetained(body)
        let result = unsafe pthread_create(
            &started, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        guard result == 0 else {
            unsafe argument.release()
            return nil
        }
        thread = started
    }

    /// Waits until the thread has ended.
    ///
    /// Call it once, from another thread.
    public func join() { pthread_join(thread, nil) }

    /// Lets the thread end on its own; no thread waits for it.
    ///
    /// Call it once, instead of ``join()``.
    public func detach() { pthread_detach(thread) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

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

/// Runs `body` in a task, while this thread waits for it.
///
/// Use it only on one of the program's own threads, or on the main thread of a program that waits
/// for signals: in Swift's task pool, it would hold up other tasks.
package func waitForTask<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Value
) throws(Failure) -> Value {
    let task = AwaitedResult<Value, Failure>()
    Task.detached {
        do throws(Failure) {
            task.end(.success(try await body()))
        } catch {
            task.end(.failure(error))
        }
    }
    return try task.wait().get()
}

/// A result that another thread, or a task, provides.
final class AwaitedResult<Value: Sendable, Failure: Error>: Sendable {
    private let result = Mutex<Result<Value, Failure>?>(nil)
    private let hasEnded = Semaphore()

    func end(_ result: Result<Value, Failure>) {
        self.result.withLock { $0 = result }
        hasEnded.post()
    }

    func wait() -> Result<Value, Failure> {
        while true {
            hasEnded.wait()
            if let result = result.withLock({ $0 }) { return result }
        }
    }

    /// Waits for the result; `nil` if there is none within `timeout`.
    func wait(timeout: Duration) -> Result<Value, Failure>? {
        let deadline = Moment.now + timeout
        while true {
            if let result = result.withLock({ $0 }) { return result }
            guard deadline.timeRemaining > .zero else { return nil }
            hasEnded.wait(timeout: deadline.timeRemaining)
        }
    }
}
