internal import Glibc

/// Builds a frame whose size is not known in advance, in wiped memory.
///
/// Numbers are big-endian. If memory runs out, or the frame exceeds its limit, ``finished()``
/// reports it.
public final class FrameWriter {
    /// The maximum size of a frame's content in bytes, unless its writer sets a different limit.
    public static let largestFrame = 64 << 20

    private let limit: Int
    private var buffer: WipedBuffer
    private var failure: SystemCallFailure?

    /// Starts a frame whose content has at most `limit` bytes.
    public init(limit: Int = largestFrame) throws(SystemCallFailure) {
        self.limit = limit
        buffer = try WipedBuffer(capacity: 4096)
        buffer.append(UInt32(0).littleEndianBytes)
    }

    /// Appends what `fill` writes, at most `room` bytes.
    public func append(upTo room: Int, _ fill: (inout OutputSpan<UInt8>) -> Void) {
        guard makeRoom(room) else { return }
        buffer.append(atMost: room, fill)
    }

    /// Appends a number of `count` bytes.
    public func append(_ number: UInt64, bytes count: Int) {
        append(upTo: count) { $0.append(number, bytes: count) }
    }

    /// Appends the bytes, preceded by their number in four bytes.
    public func append(string bytes: Span<UInt8>) {
        append(upTo: 4 + bytes.count) { $0.append(string: bytes) }
    }

    /// Appends a text in UTF-8, preceded by its length.
    public func append(text: String) { append(string: Array(text.utf8).span) }

    /// The whole frame, with its length.
    func finished() throws(SystemCallFailure) -> WipedBuffer {
        try requireWhole()
        buffer.replace(from: 0, with: UInt32(buffer.count - 4).littleEndianBytes.span)
        return buffer
    }

    /// Throws if memory ran out, or the frame exceeds its limit.
    public func requireWhole() throws(SystemCallFailure) {
        if let failure { throw failure }
    }

    /// The frame's content, without its length.
    public func withContent<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try buffer.withBytes { bytes throws(Failure) in
            try body(bytes.extracting(4..<bytes.count))
        }
    }

    private func makeRoom(_ room: Int) -> Bool {
        guard failure == nil else { return false }
        let needed = buffer.count + room
        guard needed - 4 <= limit else {
            failure = SystemCallFailure(call: "send", number: EMSGSIZE)
            return false
        }
        guard needed > buffer.capacity else { return true }
        do throws(SystemCallFailure) {
            buffer = try buffer.enlarged(to: max(needed, 2 * buffer.capacity))
            return true
        } catch {
            failure = error
            return false
        }
    }
}

extension FrameWriter {
    package convenience init(
        _ value: some Transferable, limit: Int = largestFrame
    ) throws(SystemCallFailure) {
        try self.init(limit: limit)
        append(value)
    }

    /// Writes the frame to a descriptor that is owned elsewhere.
    package func write(to number: Int32) throws(SystemCallFailure) {
        try finished().withBytes { bytes throws(SystemCallFailure) in
            try FileDescriptor.writeAll(bytes, to: number)
        }
    }
}

/// A frame that is being received from another process.
///
/// A frame is a length of four bytes, little-endian, followed by that many bytes, at least one. The
/// length is checked first, and memory is allocated only as bytes arrive.
public struct IncomingFrame {
    /// Frames of one kind, which may exceed the limit for all other frames.
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

    /// Whether the frame was found to be a large frame.
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
