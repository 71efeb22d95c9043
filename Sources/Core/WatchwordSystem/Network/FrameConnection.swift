internal import CLinux

/// Exchanges frames (see ``IncomingFrame``) over a local socket.
///
/// Each frame has a limit and a deadline, so that the other side can neither fill the memory nor
/// keep this side waiting in the middle of a frame.
public final class FrameConnection: Sendable {
    /// The result of waiting for a frame.
    public enum Received {
        case frame(WipedBuffer)
        /// The other side closed the connection.
        case ended
        /// The frame's length is zero or exceeds the limit.
        case malformed
        /// No frame began in time, or the frame did not end in time.
        case timedOut
    }

    private let socket: FileDescriptor

    /// Takes ownership of a connected, non-blocking socket.
    public init(_ socket: consuming FileDescriptor) { self.socket = socket }

    /// The process at the other end.
    public func peer() throws(SystemCallFailure) -> LocalSocket.Peer {
        try LocalSocket.peer(of: socket)
    }

    /// Whether something has arrived that was not read yet.
    public var hasReceived: Bool { linux_has_received(socket.number) != 0 }

    /// Becomes ready when the other side has sent something or has closed the connection.
    public var readable: Polling.Interest { .reading(socket) }

    /// Ends the connection; a thread that waits for it is woken.
    ///
    /// - Parameter onlyReading: what was received can still be read and answered.
    public func shutDown(onlyReading: Bool = false) { socket.shutDown(onlyReading: onlyReading) }

    /// Waits for the next frame, which has at most `limit` bytes or is one of `largeFrames`.
    ///
    /// - Parameters:
    ///   - idleTime: how long to wait for the frame's first byte; `nil` waits indefinitely.
    ///   - timeout: how long the frame may then take; `nil` if `idleTime` includes that.
    ///   - largeTimeout: how long the rest of a large frame may take, once it is included.
    public func receive(
        limit: Int, largeFrames: IncomingFrame.LargeFrames? = nil, idleTime: Duration?,
        timeout: Duration?, largeTimeout: Duration? = nil
    ) throws(SystemCallFailure) -> Received {
        var incoming = try IncomingFrame(limit: limit, largeFrames: largeFrames)
        var deadline = idleTime.map { Moment.now + $0 }
        var (hasBegun, isLarge) = (false, false)
        while true {
            let progress = try SystemCallFailure.nilIf(
                \.isConnectionLost, incoming.advance(from: socket))
            switch progress {
            case .complete(let frame): return .frame(frame)
            case .ended, nil: return .ended
            case .bad: return .malformed
            case .wouldWait: break
            }
            if let timeout, incoming.hasBegun, !hasBegun {
                hasBegun = true
                deadline = .now + timeout
            }
            if let largeTimeout, incoming.isLarge, !isLarge {
                isLarge = true
                deadline = .now + largeTimeout
            }
            guard try wait(for: .reading(socket), until: deadline) else { return .timedOut }
        }
    }

    /// Sends `frame`.
    ///
    /// - Returns: whether the other side accepted all of it before `timeout` expired.
    public func send(_ frame: FrameWriter, timeout: Duration) throws(SystemCallFailure) -> Bool {
        let deadline = Moment.now + timeout
        return try frame.finished().withBytes { bytes throws(SystemCallFailure) in
            try send(bytes, until: deadline)
        }
    }

    private func send(
        _ bytes: Span<UInt8>, until deadline: Moment
    ) throws(SystemCallFailure) -> Bool {
        var sent = 0
        while sent < bytes.count {
            switch try socket.writeAvailable(bytes.extracting(sent..<bytes.count)) {
            case .moved(let count): sent += count
            case .ended: return false
            case .wouldWait:
                guard try wait(for: .writing(socket), until: deadline) else { return false }
            }
        }
        return true
    }

    /// The longest single wait, so that a deadline on the boot clock is noticed after a suspend.
    private static let slice = Duration.seconds(10)

    /// Waits until `interest` is ready, the deadline has passed, or ``slice`` has elapsed.
    ///
    /// - Returns: whether there is time left.
    private func wait(
        for interest: Polling.Interest, until deadline: Moment?
    ) throws(SystemCallFailure) -> Bool {
        let remaining = deadline?.timeRemaining ?? FrameConnection.slice
        guard remaining > .zero else { return false }
        _ = try Polling.wait(for: [interest], timeout: min(remaining, FrameConnection.slice))
        return true
    }
}

extension FrameWriter {
    /// Writes the frame to a pipe or a blocking socket.
    public func write(to file: borrowing FileDescriptor) throws(SystemCallFailure) {
        try finished().withBytes { bytes throws(SystemCallFailure) in try file.writeAll(bytes) }
    }
}
