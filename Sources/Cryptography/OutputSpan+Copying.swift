extension OutputSpan<UInt8> {
    /// Appends all of `bytes`, which must fit.
    public mutating func append(copying bytes: Span<UInt8>) {
        precondition(bytes.count <= freeCapacity, "the bytes fit into the output")
        unsafe withUnsafeMutableBufferPointer { buffer, count in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                let room = unsafe UnsafeMutableBufferPointer(rebasing: buffer[count...])
                _ = unsafe room.initialize(fromContentsOf: bytes)
            }
            count += bytes.count
        }
    }
}

extension [UInt8] {
    /// Copies bytes that are not secret: an array is not wiped.
    public init(copying bytes: Span<UInt8>) {
        self.init(capacity: bytes.count) { output in output.append(copying: bytes) }
    }
}
