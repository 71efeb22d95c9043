/// A frame that is being received from another process.
///
/// A frame is a length of four bytes, little-endian, followed by that many bytes, at least one. The
/// length is checked first, and memory is allocated only as bytes arrive.
public struct IncomingFrame {
    /// Frames of a kind that may exceed the limit for the others.
    public struct LargeFrames: Sendable {
        /// Their maximum size in bytes.
        let limit: Int
        /// Whether a frame that begins with these bytes, and has this size, is of the kind.
        let include: @Sendable (Span<UInt8>, Int) -> Bool

        /// Allows frames of at most `limit` bytes.
        public init(
            limit: Int, where include: @escaping @Sendable (Span<UInt8>, Int) -> Bool
        ) {
            self.limit = limit
            self.include = include
        }
    }

    private let limit: Int
    private let largeFrames: LargeFrames?
    private let header: WipedBuffer
    private var body: WipedBuffer?

    /// The result of a non-blocking read.
    public enum Progress {
        /// The frame is complete.
        case complete(WipedBuffer)
        /// More data must arrive first.
        case wouldWait
        /// The other side closed the connection.
        case ended
        /// The length is zero or exceeds the limit.
        case bad
    }

    /// How much memory a frame gets before its bytes arrive.
    private static let firstCapacity = 64 << 10

    /// Expects a frame of at most `limit` bytes, or one of `largeFrames`.
    public init(
        limit: Int, largeFrames: LargeFrames? = nil
    ) throws(SystemCallFailure) {
        self.limit = limit
        self.largeFrames = largeFrames
        header = try WipedBuffer(capacity: 4)
    }

    /// Whether a part of the frame has arrived.
    public var hasBegun: Bool { header.count > 0 }

    /// Whether the frame was found to be one of the large ones.
    var isLarge: Bool { capacity > limit }

    /// The memory that the frame's content has.
    var capacity: Int {
        guard let body else { return 0 }
        return body.capacity
    }

    /// Reads the available data; waits for the whole frame if the descriptor is blocking.
    public mutating func advance(
        from file: borrowing FileDescriptor
    ) throws(SystemCallFailure) -> Progress {
        while true {
            if let body, body.count == body.capacity {
                guard body.count < size else { return .complete(body) }
                guard body.count < limit || body.withBytes(isLargeFrame) else { return .bad }
                self.body = try body.enlarged(to: capacity(after: body.capacity))
            }
            if body == nil, header.count == header.capacity {
                guard (1...max(limit, largeFrames?.limit ?? 0)).contains(size) else {
                    return .bad
                }
                body = try WipedBuffer(
                    capacity: min(size, limit, IncomingFrame.firstCapacity))
            }
            let part = body ?? header
            let progress = try IncomingFrame.read(from: file, into: part)
            switch progress {
            case .moved: continue
            case .wouldWait: return .wouldWait
            case .ended: return .ended
            }
        }
    }

    /// The next capacity: the frame's beginning is examined before it exceeds the limit.
    private func capacity(after capacity: Int) -> Int {
        let next = min(size, 2 * capacity)
        return capacity < limit ? min(next, limit) : next
    }

    private func isLargeFrame(_ beginning: Span<UInt8>) -> Bool {
        largeFrames?.include(beginning, size) ?? false
    }

    private var size: Int { Int(header.withBytes { UInt32(littleEndian: $0) }) }

    private static func read(
        from file: borrowing FileDescriptor, into buffer: WipedBuffer
    ) throws(SystemCallFailure) -> FileDescriptor.Progress {
        try buffer.append { output throws(SystemCallFailure) in
            try file.readAvailable(into: &output)
        }
    }
}
