internal import Glibc

/// A fixed run of memory for bytes that pass through: kept out of swap and dumps, wiped at the end.
///
/// It is for hands that pass secrets on without keeping them; what is kept belongs in `SecretBytes`.
@safe public final class WipedBuffer {
    /// How many bytes fit.
    public let capacity: Int
    /// How many bytes are in it.
    public private(set) var count = 0
    private let memory: UnsafeMutableRawPointer

    /// Makes room for `capacity` bytes, at least one.
    public init(capacity: Int) throws(SystemCallFailure) {
        precondition(capacity > 0, "a buffer has room for something")
        self.capacity = capacity
        let mapped = unsafe mmap(
            nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
            throw SystemCallFailure(call: "mmap", number: errno)
        }
        unsafe memory = mapped
        // Both are a favour: where RLIMIT_MEMLOCK is spent, the bytes are wiped all the same.
        unsafe mlock(memory, capacity)
        unsafe madvise(memory, capacity, MADV_DONTDUMP)
    }

    deinit {
        unsafe explicit_bzero(memory, capacity)
        unsafe munmap(memory, capacity)
    }

    /// Lends what is in it; the borrower must not let a copy escape.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(
            start: memory.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe Span(_unsafeElements: bytes))
    }

    /// Lends the free room behind what is in it, at most `limit` bytes of it, to be filled.
    public func append<Result: ~Copyable, Failure: Error>(
        atMost limit: Int = .max, _ fill: (inout OutputSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let room = unsafe UnsafeMutableBufferPointer(
            start: memory.assumingMemoryBound(to: UInt8.self) + count,
            count: min(capacity - count, limit))
        var output = unsafe OutputSpan(buffer: room, initializedCount: 0)
        do throws(Failure) {
            let result = try fill(&output)
            count += unsafe output.finalize(for: room)
            return result
        } catch {
            _ = unsafe output.finalize(for: room)
            throw error
        }
    }

    /// Overwrites the bytes from `start` on with `bytes`, which must fit into what is there.
    public func replace(from start: Int, with bytes: Span<UInt8>) {
        precondition(start >= 0 && start + bytes.count <= count, "only what is there is replaced")
        for index in bytes.indices {
            unsafe memory.storeBytes(
                of: bytes[index], toByteOffset: start + index, as: UInt8.self)
        }
    }

    /// Wipes it and starts anew.
    public func removeAll() {
        unsafe explicit_bzero(memory, count)
        count = 0
    }
}
