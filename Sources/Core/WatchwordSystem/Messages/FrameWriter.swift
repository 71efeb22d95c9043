internal import Glibc

/// Builds a frame whose size is not known in advance, in wiped memory.
///
/// Numbers are big-endian. If memory runs out, or the frame exceeds its limit, ``finished()`` reports
/// it.
public final class FrameWriter {
    /// The maximum size of a frame's content in bytes, unless its writer sets another one.
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
    /// Starts a frame with `value`.
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
