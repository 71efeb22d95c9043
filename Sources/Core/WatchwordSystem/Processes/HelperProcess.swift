/// Why a helper program did not do its work.
public enum HelperFailure: SystemCallError, Hashable, Sendable {
    /// The program is neither next to the running program nor in the installation folder.
    case notFound
    /// The program could not be started.
    case cannotStart(SystemCallFailure)
    /// The program could not confine itself, so it did nothing.
    ///
    /// The failed step is named: `seccomp_load` if the kernel or a container has no seccomp.
    case notConfined(SystemCallFailure)
    /// The program has a different version.
    case otherVersion
    /// The program ended too early; if it had just been started, a library may be missing.
    case died(ChildProcess.Ending)
    /// A system call in this process failed: no memory or no descriptors are left.
    case system(SystemCallFailure)
}

/// A helper program and the frames that are exchanged with it over pipes.
///
/// A helper processes untrusted input, so an attacker may control it. The size of a frame is
/// checked before memory is reserved, nothing here blocks, and the helper is killed when its last
/// owner releases it.
///
/// It must be used from one thread, which must outlive it: the kernel kills the helper when that
/// thread ends.
public final class HelperProcess {
    /// The result of a non-blocking receive.
    public enum Received {
        /// The first frame of a helper that identifies itself before it gets any work.
        case greeting(WipedBuffer)
        /// A frame after the greeting.
        case frame(WipedBuffer)
        /// No whole frame has arrived yet.
        case wouldWait
        /// The helper has closed its end.
        case ended
        /// The frame's size is zero or over the limit.
        case malformed
    }

    /// The maximum sizes of messages, in bytes.
    public struct Limits: Sendable {
        /// The maximum size of the greeting; `nil` for a helper that sends none.
        let greeting: Int?
        /// The maximum size of any later frame.
        let frame: Int
        /// The maximum number of bytes that can be queued for sending.
        let outgoing: Int

        /// Sets the limits, all in bytes.
        public init(greeting: Int?, frame: Int, outgoing: Int) {
            self.greeting = greeting
            self.frame = frame
            self.outgoing = outgoing
        }
    }

    /// Bytes to be sent; ``flush()`` sends them.
    public let outgoing: WipedBuffer
    /// Whether the greeting has arrived; always true for a helper that sends none.
    public private(set) var isReady: Bool
    /// The time that the helper has left; zero once its timeout has expired.
    public private(set) var remainingTime: Duration

    private let child: ChildProcess
    private let killsGroup: Bool
    private let frameLimit: Int
    private var incoming: IncomingFrame
    private var sent = 0

    /// The longest single wait.
    ///
    /// If all processes are stopped (Ctrl-Z) during a wait, at most this much time is counted, so
    /// that the stop does not use up a helper's timeout.
    private static let slice = Duration.milliseconds(500)

    /// Starts the program at `path` without waiting for it.
    ///
    /// - Parameters:
    ///   - argument: The program's only argument, if any.
    ///   - timeout: How long the helper may take, unless ``restartTimeout(_:)`` sets a new timeout.
    ///   - killsGroup: Whether the programs that the helper starts are killed with it.
    public init(
        running path: String, argument: String? = nil, limits: Limits, timeout: Duration,
        killsGroup: Bool = false
    ) throws(HelperFailure) {
        self.killsGroup = killsGroup
        remainingTime = timeout
        frameLimit = limits.frame
        isReady = limits.greeting == nil
        incoming = try HelperFailure.system(
            in: IncomingFrame(limit: limits.greeting ?? limits.frame))
        outgoing = try HelperFailure.system(in: WipedBuffer(capacity: limits.outgoing))
        do throws(SystemCallFailure) {
            child = try ChildProcess(running: path, argument: argument)
        } catch {
            throw error.isMissingFile ? .notFound : .cannotStart(error)
        }
    }

    deinit { end() }

    /// Kills the helper unless it has ended already, and returns how it ended; see
    /// ``ChildProcess/end(includingItsOwn:)``.
    @discardableResult public func end() -> (ChildProcess.Ending, peakMemory: Int) {
        child.end(includingItsOwn: killsGroup)
    }

    // MARK: Receiving

    /// Reads the part of the next frame that has arrived.
    public func receive() throws(SystemCallFailure) -> Received {
        switch try incoming.advance(from: child.output) {
        case .wouldWait: return .wouldWait
        case .ended: return .ended
        case .bad: return .malformed
        case .complete(let frame):
            incoming = try IncomingFrame(limit: frameLimit)
            guard isReady else {
                isReady = true
                return .greeting(frame)
            }
            return .frame(frame)
        }
    }

    // MARK: Sending

    /// Whether part of ``outgoing`` is still to be sent.
    public var hasUnsent: Bool { sent < outgoing.count }

    /// Appends a frame with `value` to ``outgoing``.
    package func appendFrame(_ value: some Transferable) throws(SystemCallFailure) {
        try FrameWriter(value).finished().withBytes { outgoing.append($0) }
    }

    /// Sends as much as the pipe accepts.
    ///
    /// - Returns: `.moved` once everything is sent, `.ended` if the helper has closed its input.
    public func flush() throws(SystemCallFailure) -> FileDescriptor.Progress {
        while hasUnsent {
            let progress = try outgoing.withBytes { bytes throws(SystemCallFailure) in
                try child.input.writeAvailable(bytes.extracting(sent..<bytes.count))
            }
            guard case .moved(let count) = progress else { return progress }
            sent += count
        }
        return .moved(sent)
    }

    /// Wipes ``outgoing``, including unsent bytes.
    public func removeOutgoing() {
        outgoing.removeAll()
        sent = 0
    }

    // MARK: Waiting

    /// Becomes ready when the helper has written something or has ended.
    public var readable: Polling.Interest { .reading(child.output) }

    /// Becomes ready when the helper can accept more bytes.
    public var writable: Polling.Interest { .writing(child.input) }

    /// Gives the helper a new timeout.
    public func restartTimeout(_ timeout: Duration) { remainingTime = timeout }

    /// Subtracts time from the helper's remaining time.
    public func countWait(_ waited: Duration) { remainingTime = max(remainingTime - waited, .zero) }

    /// Waits until `interest` is ready or the timeout expires, and counts the time.
    ///
    /// It may return early; the caller checks again.
    public func wait(for interest: Polling.Interest) throws(SystemCallFailure) {
        countWait(try HelperProcess.wait(for: [interest], timeout: remainingTime))
    }

    /// Waits until one of `interests` is ready or `timeout` expires; may return early.
    ///
    /// - Returns: the time to count against the timeout of each helper that was waited for.
    public static func wait(
        for interests: [Polling.Interest], timeout: Duration?
    ) throws(SystemCallFailure) -> Duration {
        try Polling.wait(for: interests, timeout: min(timeout ?? slice, slice))
    }
}

/// The frames of a helper, whichever process started it.
package protocol HelperConnection {
    /// Waits for the next frame.
    mutating func receive() throws(SystemCallFailure) -> FrameConnection.Received
    /// Sends a frame with `value`, and gives the helper a new timeout.
    mutating func send(_ value: some Transferable) throws(SystemCallFailure)
    mutating func restartTimeout()
    func ending() -> ChildProcess.Ending
}

/// A helper that this process started.
package struct OwnHelperConnection: HelperConnection {
    private let helper: HelperProcess
    private let timeout: Duration

    package init(_ helper: HelperProcess, timeout: Duration) {
        self.helper = helper
        self.timeout = timeout
    }

    package func receive() throws(SystemCallFailure) -> FrameConnection.Received {
        while helper.remainingTime > .zero {
            switch try helper.receive() {
            case .wouldWait: try helper.wait(for: helper.readable)
            case .ended: return .ended
            case .malformed: return .malformed
            case .greeting(let frame), .frame(let frame): return .frame(frame)
            }
        }
        return .timedOut
    }

    package func send(_ value: some Transferable) throws(SystemCallFailure) {
        try helper.appendFrame(value)
        // The bytes that were sent are wiped.
        defer { helper.removeOutgoing() }
        helper.restartTimeout(timeout)
        while helper.remainingTime > .zero {
            // A helper that has ended no longer reads; its last frame is read next.
            guard case .wouldWait = try helper.flush() else { break }
            try helper.wait(for: helper.writable)
        }
    }

    package func restartTimeout() { helper.restartTimeout(timeout) }

    package func ending() -> ChildProcess.Ending { helper.end().0 }
}

/// A helper that another process started.
package struct LentHelperConnection: HelperConnection {
    private let connection: FrameConnection
    private let limit: Int
    private let timeout: Duration
    private var deadline: Moment

    /// - Parameters:
    ///   - connection: a non-blocking socket that is the helper's standard input and output.
    ///   - limit: the maximum size of a frame from the helper, in bytes.
    package init(
        _ connection: borrowing FileDescriptor, limit: Int, timeout: Duration
    ) throws(SystemCallFailure) {
        self.connection = FrameConnection(try connection.duplicate())
        self.limit = limit
        self.timeout = timeout
        deadline = .now + timeout
    }

    package func receive() throws(SystemCallFailure) -> FrameConnection.Received {
        try connection.receive(limit: limit, idleTime: deadline.timeRemaining, timeout: nil)
    }

    package mutating func send(_ value: some Transferable) throws(SystemCallFailure) {
        restartTimeout()
        // A helper that has ended no longer reads; its last frame is read next.
        try SystemCallFailure.nilIf(
            \.isConnectionLost, connection.send(FrameWriter(value), timeout: timeout))
    }

    package mutating func restartTimeout() { deadline = .now + timeout }

    package func ending() -> ChildProcess.Ending { .unknown }
}
