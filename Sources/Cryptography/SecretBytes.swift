internal import COpenSSL

// `@unchecked Sendable`: the memory is written only in the initialiser, before it is shared.
/// Secret bytes, kept in OpenSSL's locked heap and wiped when the last reference is released.
///
/// They are written in place and lent to closures. The type has no description, is neither
/// `Codable` nor `Hashable`, and compares in constant time. If the locked heap is full or
/// unavailable (`RLIMIT_MEMLOCK`), the bytes are kept in ordinary memory, which is also wiped.
@safe public final class SecretBytes: @unchecked Sendable {
    /// The number of bytes.
    public let count: Int
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int

    /// Allocates `capacity` bytes and lets `fill` write them in place.
    ///
    /// - Throws: what `fill` throws; the memory is also wiped in that case.
    public init<Failure: Error>(
        capacity: Int, initializingWith fill: (inout OutputSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(capacity >= 0, "a capacity is not negative")
        SecretHeap.prepare()
        let allocated = unsafe SecretHeap.allocate(max(capacity, 1))
        guard let ready = unsafe allocated else { preconditionFailure("out of memory") }
        unsafe self.memory = ready
        self.capacity = capacity
        let bytes = unsafe UnsafeMutableBufferPointer(
            start: ready.assumingMemoryBound(to: UInt8.self), count: capacity)
        var span = unsafe OutputSpan(buffer: bytes, initializedCount: 0)
        do throws(Failure) {
            try fill(&span)
            self.count = unsafe span.finalize(for: bytes)
        } catch {
            _ = unsafe span.finalize(for: bytes)
            self.count = 0
            throw error
        }
    }

    /// Copies the bytes that `bytes` refers to.
    public convenience init(copying bytes: Span<UInt8>) {
        self.init(capacity: bytes.count) { output in
            output.append(copying: bytes)
        }
    }

    /// Lends the bytes to `body`, which must not let a copy escape.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(
            start: memory.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe Span(_unsafeElements: bytes))
    }

    deinit { unsafe CRYPTO_secure_clear_free(memory, max(capacity, 1), "SecretBytes", 0) }
}

extension SecretBytes {
    /// Compares in constant time.
    ///
    /// Only the lengths can leak.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        left.withBytes { left in right.withBytes { right in isEqualInConstantTime(left, right) } }
    }
}
