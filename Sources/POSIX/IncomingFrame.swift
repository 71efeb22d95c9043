/// A frame from another process on its way in: its count is looked at before room is made for it.
///
/// A frame is its count of bytes, as four bytes with the lowest first, and so many bytes, at least one.
public struct IncomingFrame {
    private let limit: Int
    private let header: WipedBuffer
    private var body: WipedBuffer?

    /// What came of reading without waiting.
    public enum Progress {
        /// The frame is whole.
        case complete(WipedBuffer)
        /// More must come first.
        case wouldWait
        /// The other side has closed.
        case ended
        /// The count is zero or over the limit.
        case bad
    }

    /// Awaits a frame of at most `limit` bytes.
    public init(limit: Int) throws(SystemCallFailure) {
        self.limit = limit
        header = try WipedBuffer(capacity: 4)
    }

    /// Reads what is there; waits for the whole frame where the descriptor blocks.
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

    private var size: Int {
        header.withBytes { bytes in
            bytes.indices.reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
        }
    }

    private static func read(
        from file: borrowing FileDescriptor, into buffer: WipedBuffer
    ) throws(SystemCallFailure) -> FileDescriptor.Progress {
        try buffer.append { output throws(SystemCallFailure) in
            try file.readAvailable(into: &output)
        }
    }
}
