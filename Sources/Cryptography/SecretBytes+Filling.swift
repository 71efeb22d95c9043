extension SecretBytes {
    /// Makes exactly `count` bytes that a C call fills in place.
    ///
    /// The memory is zero before the call, and all of it counts as written after it.
    convenience init<Failure: Error>(
        count: Int,
        filledBy fill: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try self.init(capacity: count) { output throws(Failure) in
            try unsafe output.withUnsafeMutableBufferPointer { buffer, filled throws(Failure) in
                try unsafe fill(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
                filled = count
            }
        }
    }
}
