internal import Glibc

extension FileDescriptor {
    /// Reads `count` bytes from a descriptor that is owned elsewhere and appends them to `bytes`.
    ///
    /// - Returns: whether all of them arrived; if not, the other side closed the connection before
    ///   or during the message.
    public static func read(
        exactly count: Int, from number: Int32, appendingTo bytes: inout [UInt8]
    ) throws(SystemCallFailure) -> Bool {
        var part = [UInt8](repeating: 0, count: min(count, 1 << 16))
        var missing = count
        while missing > 0 {
            let result = retrying { unsafe Glibc.read(number, &part, min(missing, part.count)) }
            guard result >= 0 else { throw SystemCallFailure(call: "read", number: errno) }
            guard result > 0 else { return false }
            bytes.append(contentsOf: part.prefix(result))
            missing -= result
        }
        return true
    }

    /// Fills the free space from a descriptor that is owned elsewhere.
    ///
    /// - Returns: whether it is full; if not, the other side closed the connection first.
    public static func fill(
        _ output: inout OutputSpan<UInt8>, from number: Int32
    ) throws(SystemCallFailure) -> Bool {
        var failure: Int32 = 0
        unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
            while let start = buffer.baseAddress, initialized < buffer.count {
                let (position, room) = (initialized, buffer.count - initialized)
                let result = retrying { unsafe Glibc.read(number, start + position, room) }
                if result < 0 { failure = errno }
                guard result > 0 else { return }
                initialized += result
            }
        }
        guard failure == 0 else { throw SystemCallFailure(call: "read", number: failure) }
        return output.freeCapacity == 0
    }
}

extension FileDescriptor {
    /// Reads the length that precedes a frame from a descriptor that is owned elsewhere.
    ///
    /// - Returns: `nil` if the other side closed the connection first.
    public static func readCount(from number: Int32) throws(SystemCallFailure) -> Int? {
        var bytes: [UInt8] = []
        guard try read(exactly: 4, from: number, appendingTo: &bytes) else { return nil }
        return Int(UInt32(littleEndian: bytes.span))
    }
}

extension UInt32 {
    /// The four bytes, lowest first.
    public var littleEndianBytes: [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }

    /// Reads four bytes, lowest first.
    init(littleEndian bytes: Span<UInt8>) {
        precondition(bytes.count == 4, "a count is four bytes long")
        self = bytes.indices.reversed().reduce(0) { $0 << 8 | UInt32(bytes[$1]) }
    }
}
