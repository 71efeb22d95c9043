extension OutputSpan<UInt8> {
    /// Appends all that `bytes` lends, for which there must be room.
    public mutating func append(copying bytes: Span<UInt8>) {
        precondition(bytes.count <= freeCapacity, "there is room for what is appended")
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
    /// Copies what `bytes` lends, which may be seen: nobody wipes an array.
    public init(copying bytes: Span<UInt8>) {
        self.init(capacity: bytes.count) { output in output.append(copying: bytes) }
    }
}
