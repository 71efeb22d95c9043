internal import CLinux
internal import Glibc

/// Blocks signals during its lifetime, so that they can be polled.
///
/// The program can restore its state first, above all a terminal's echo, and then deliver the
/// signal with ``deliver(_:)``.
@safe public struct SignalQueue: ~Copyable {
    /// A signal by which the user or the system ends or stops a program, or makes it redraw.
    public enum Signal: Int32, CaseIterable, Sendable {
        case hangUp = 1
        case interrupt = 2
        case quit = 3
        case terminate = 15
        case stop = 20
        case windowChange = 28
    }

    /// The signals that end or stop a program.
    public static let interruptions: [Signal] = [.interrupt, .quit, .terminate, .hangUp, .stop]

    private let descriptor: FileDescriptor
    private let before: sigset_t

    /// Blocks `signals` from now on.
    public init(_ signals: [Signal]) throws(SystemCallFailure) {
        var blocked = sigset_t()
        unsafe sigemptyset(&blocked)
        for signal in signals { unsafe sigaddset(&blocked, signal.rawValue) }
        var before = sigset_t()
        try callReturningErrorNumber("pthread_sigmask") {
            unsafe pthread_sigmask(SIG_BLOCK, &blocked, &before)
        }
        let numbers = signals.map(\.rawValue)
        let opened: Int32
        do {
            opened = try call("signalfd") {
                unsafe linux_signal_file(numbers, Int32(numbers.count))
            }
        } catch {
            unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
            throw error
        }
        self.before = before
        self.descriptor = FileDescriptor(owning: opened)
    }

    // Pending signals are delivered here.
    deinit {
        var before = before
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// The next pending signal, or `nil` if there is none.
    public func next() throws(SystemCallFailure) -> Signal? {
        let number = try call("read", retrying: true) { linux_next_signal(descriptor.number) }
        return Signal(rawValue: number)
    }

    /// Performs `signal`'s normal action: ends the process, or stops it until it is continued.
    ///
    /// Returns after the process has been continued, or if the signal is ignored.
    public func deliver(_ signal: Signal) throws(SystemCallFailure) {
        var one = sigset_t()
        unsafe sigemptyset(&one)
        unsafe sigaddset(&one, signal.rawValue)
        try call("raise") { raise(signal.rawValue) }
        // The signal is still blocked; unblocking delivers it.
        unsafe pthread_sigmask(SIG_UNBLOCK, &one, nil)
        unsafe pthread_sigmask(SIG_BLOCK, &one, nil)
    }

    /// Delivers `signal` once no queue of this thread blocks it, so that every caller can
    /// restore its state before the signal takes effect.
    public func postpone(_ signal: Signal) throws(SystemCallFailure) {
        try call("raise") { raise(signal.rawValue) }
    }

    /// Waits until a signal arrives or `timeout` expires; `nil` waits indefinitely.
    public func wait(timeout: Duration?) throws(SystemCallFailure) {
        _ = try wait(for: [], timeout: timeout)
    }

    /// Runs `body`; signals that arrive during it, or were postponed, are delivered afterwards.
    public static func holdingBack<Result: ~Copyable, Failure: Error>(
        _ signals: [Signal], for body: () throws(Failure) -> Result,
        otherwise failure: (SystemCallFailure) -> Failure
    ) throws(Failure) -> Result {
        let queue: SignalQueue
        do { queue = try SignalQueue(signals) } catch { throw failure(error) }
        return try withExtendedLifetime(queue, body)
    }

    /// Whether an interrupting signal has arrived that this thread holds back.
    static func holdsBackInterruption() -> Bool {
        var pending = sigset_t()
        // Fails only for an invalid address.
        guard unsafe sigpending(&pending) == 0 else { return false }
        return interruptions.contains { unsafe sigismember(&pending, $0.rawValue) == 1 }
    }

    /// Waits until `other` is readable, a signal arrives, or `timeout` expires.
    ///
    /// - Returns: whether `other` is readable, including at its end.
    public func wait(for other: borrowing FileDescriptor, timeout: Duration?)
        throws(SystemCallFailure) -> Bool
    {
        try wait(for: [.reading(other)], timeout: timeout)[0]
    }

    /// Waits until one of `interests` is ready, a signal arrives, or `timeout` expires.
    ///
    /// - Returns: for each interest, whether it is ready; a closed descriptor counts as ready.
    public func wait(for interests: [Polling.Interest], timeout: Duration?)
        throws(SystemCallFailure) -> [Bool]
    {
        try Polling.ready(of: interests + [.reading(descriptor)], timeout: timeout).dropLast()
    }
}
