/// A frame that is being received from another process; its length is checked before memory is
/// allocated.
///
/// A frame is a length of four bytes, little-endian, followed by that many bytes, at least one.
public struct IncomingFrame {
    private let limit: Int
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

    /// Expects a frame of at most `limit` bytes.
    public init(limit: Int) throws(SystemCallFailure) {
        self.limit = limit
        header = try WipedBuffer(capacity: 4)
    }

    /// Whether a part of the frame has arrived.
    public var hasBegun: Bool { header.count > 0 }

    /// Reads the available data; waits for the whole frame if the descriptor is blocking.
    public mutating func advance(
        from file: borrowing FileDescriptor
    ) throws(SystemCallFailure) -> Progress {
        while true {
            if let body, body.count == body.capacity { return .complete(body) }
            if body == nil, header.count == header.capacity {
                guard (1...limit).contains(size) else { return .bad }
                body = try WipedBuffer(capacity: size)
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

    private var size: Int { Int(header.withBytes { UInt32(littleEndian: $0) }) }

    private static func read(
        from file: borrowing FileDescriptor, into buffer: WipedBuffer
    ) throws(SystemCallFailure) -> FileDescriptor.Progress {
        try buffer.append { output throws(SystemCallFailure) in
            try file.readAvailable(into: &output)
        }
    }
}
