internal import CLinux
internal import Glibc

/// A fixed-size buffer for bytes in transit: kept out of swap and core dumps, and wiped when it is
/// released.
///
/// It is for code that passes secrets on without keeping them; secrets that are kept belong in
/// `SecretBytes`.
@safe public final class WipedBuffer {
    /// The maximum number of bytes.
    public let capacity: Int
    /// The number of bytes in the buffer.
    public private(set) var count = 0
    private let memory: UnsafeMutableRawPointer

    /// Allocates `capacity` bytes, at least one.
    public init(capacity: Int) throws(SystemCallFailure) {
        precondition(capacity > 0, "the capacity is positive")
        self.capacity = capacity
        let mapped = unsafe mmap(
            nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
            throw SystemCallFailure(call: "mmap", number: errno)
        }
        unsafe memory = mapped
        // Both are best effort: if RLIMIT_MEMLOCK is exhausted, the bytes are still wiped.
        unsafe mlock(memory, capacity)
        unsafe madvise(memory, capacity, MADV_DONTDUMP)
    }

    deinit {
        unsafe explicit_bzero(memory, capacity)
        unsafe munmap(memory, capacity)
    }

    /// Lends the content; the borrower must not let a copy escape.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(
            start: memory.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe Span(_unsafeElements: bytes))
    }

    /// Lends the free space after the content, at most `limit` bytes of it, to be filled.
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

    /// A copy with more room; this buffer keeps its content until it is released.
    func enlarged(to capacity: Int) throws(SystemCallFailure) -> WipedBuffer {
        let larger = try WipedBuffer(capacity: capacity)
        withBytes { larger.append($0) }
        return larger
    }

    /// Appends `bytes`, for which there must be room.
    public func append(_ bytes: [UInt8]) { append(bytes.span) }

    /// Appends `bytes`, for which there must be room.
    public func append(_ bytes: Span<UInt8>) {
        precondition(bytes.count <= capacity - count, "the bytes fit into the buffer")
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe (memory + count).copyMemory(from: start, byteCount: bytes.count)
        }
        count += bytes.count
    }

    /// Overwrites the content, beginning at `start`, with `bytes`, which must not extend beyond it.
    public func replace(from start: Int, with bytes: Span<UInt8>) {
        precondition(start >= 0 && start + bytes.count <= count, "the bytes fit into the content")
        for index in bytes.indices {
            unsafe memory.storeBytes(
                of: bytes[index], toByteOffset: start + index, as: UInt8.self)
        }
    }

    /// Wipes and empties the buffer.
    public func removeAll() {
        unsafe explicit_bzero(memory, capacity)
        count = 0
    }
}

/// `malloc` and its relatives for C libraries, except that memory is wiped before it is freed.
///
/// It is ordinary memory, because a large document would fill the locked heap. The blocks are
/// `malloc`'s own: a library may free here what it allocated before these functions were
/// registered.
public enum WipingAllocator {
    /// Replaces `malloc`.
    public static let allocate: @convention(c) (Int) -> UnsafeMutableRawPointer? = { count in
        unsafe malloc(count)
    }

    /// Replaces `free`.
    public static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { memory in
        guard let memory = unsafe memory else { return }
        unsafe explicit_bzero(memory, size(memory))
        unsafe free(memory)
    }

    /// Replaces `realloc`; the block always moves.
    public static let reallocate:
        @convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer? = {
            memory, count in
            guard let moved = unsafe malloc(count) else { return nil }
            guard let memory = unsafe memory else { return unsafe moved }
            unsafe moved.copyMemory(
                from: memory, byteCount: min(count, size(memory)))
            unsafe release(memory)
            return unsafe moved
        }

    /// Replaces `strdup`.
    public static let duplicate:
        @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>? = { text in
            guard let text = unsafe text else { return nil }
            return unsafe strdup(text)
        }

    /// Replaces `malloc_usable_size`.
    public static let size: @convention(c) (UnsafeMutableRawPointer?) -> Int = { memory in
        Int(unsafe linux_usable_size(memory))
    }
}

extension Span<UInt8> {
    /// The first index of `byte` that is not before `start`; `nil` if there is none.
    public func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        precondition(start >= 0, "the start is in the span")
        guard start < count else { return nil }
        return unsafe withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress,
                let found = unsafe memchr(base + start, Int32(byte), count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Whether the span contains all bytes of `text` at `start`.
    public func holds(_ text: String, at start: Int) -> Bool {
        precondition(start >= 0, "the start is in the span")
        var text = text
        return text.withUTF8 { text in
            guard text.count <= count - start else { return false }
            return unsafe withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress, let wanted = text.baseAddress else {
                    return true
                }
                return unsafe memcmp(base + start, wanted, text.count) == 0
            }
        }
    }
}
