internal import Glibc

/// A thread of one's own for calls that block, away from the pool that Swift's tasks share.
@safe public final class WorkerThread: @unchecked Sendable {
    // Sendable by hand: the thread's name is written in the initialiser only.
    private let thread: pthread_t

    /// Starts a thread that runs `body` and ends.
    ///
    /// - Returns: nothing when the system has no thread left.
    public init?(_ body: @escaping @Sendable () -> Void) {
        let body = Body(body)
        var started = pthread_t()
        // Signals are the program's own business, and go to its other threads.
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

    /// Waits until the thread has ended; once, and from another thread.
    public func join() { pthread_join(thread, nil) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
