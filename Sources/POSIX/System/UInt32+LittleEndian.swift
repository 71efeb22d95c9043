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
