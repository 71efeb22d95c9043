internal import COpenSSL

// Sendable by hand: the memory is written in the initialiser only, before anybody else can see it.
/// Bytes that nobody else may see: kept in OpenSSL's locked heap, wiped when the last owner lets
/// go.
///
/// They are filled in place and lent by closure. The type has no description, is neither `Codable`
/// nor `Hashable`, and compares in constant time. Where the locked heap is full or could not be had
/// (`RLIMIT_MEMLOCK`), the bytes live in ordinary memory and are wiped all the same.
@safe public final class SecretBytes: @unchecked Sendable {
    /// How many bytes there are.
    public let count: Int
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int

    /// Makes room for `capacity` bytes and lets `fill` write them in place.
    ///
    /// - Throws: what `fill` throws; the memory is wiped then, too.
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

    /// Copies what `bytes` lends.
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
    /// Tells in constant time whether both hold the same bytes; only the lengths may show.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        left.withBytes { left in right.withBytes { right in isEqualInConstantTime(left, right) } }
    }
}
