extension SecretBytes {
    /// Creates exactly `count` bytes that a C call writes in place.
    ///
    /// The memory is zeroed before the call and treated as fully initialised after it.
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
