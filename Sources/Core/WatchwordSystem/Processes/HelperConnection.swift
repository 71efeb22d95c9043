/// The frames of a helper, whichever process started it.
package protocol HelperConnection {
    /// Waits for the next frame.
    mutating func receive() throws(SystemCallFailure) -> FrameConnection.Received
    /// Sends a frame with `value`, and gives the helper a new timeout.
    mutating func send(_ value: some Transferable) throws(SystemCallFailure)
    /// Gives the helper a new timeout.
    mutating func restartTimeout()
    /// How the helper ended.
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
        // What was sent is wiped.
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
        do { _ = try connection.send(FrameWriter(value), timeout: timeout) } catch {
            guard error.isConnectionLost else { throw error }
        }
    }

    package mutating func restartTimeout() { deadline = .now + timeout }

    package func ending() -> ChildProcess.Ending { .unknown }
}
