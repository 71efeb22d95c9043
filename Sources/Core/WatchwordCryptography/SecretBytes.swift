internal import COpenSSL
internal import Synchronization

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
    public convenience init<Failure: Error>(
        capacity: Int, initializingWith fill: (inout OutputSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try self.init(capacity: capacity, isKey: false, initializingWith: fill)
    }

    private init<Failure: Error>(
        capacity: Int, isKey: Bool,
        initializingWith fill: (inout OutputSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(capacity >= 0, "a capacity is not negative")
        SecretHeap.prepare()
        let allocated = unsafe SecretHeap.allocate(max(capacity, 1), isKey: isKey)
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

    /// Copies the key of a vault into the part of the locked heap that is reserved for such keys.
    package convenience init(key: SecretBytes) {
        self.init(capacity: key.count, isKey: true) { output in
            key.withBytes { output.append(copying: $0) }
        }
    }

    /// Whether the bytes cannot be written to swap.
    package var isLocked: Bool { unsafe SecretHeap.isLocked(memory) }

    package convenience init(joining parts: [SecretBytes]) {
        self.init(capacity: parts.reduce(0) { $0 + $1.count }) { output in
            for part in parts { part.withBytes { output.append(copying: $0) } }
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

extension SecretBytes {
    /// Creates exactly `count` bytes that a C call writes in place.
    ///
    /// The memory is zeroed before the call and treated as fully initialised after it.
    package convenience init<Failure: Error>(
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

/// Compares two spans in constant time.
///
/// Only their lengths can leak.
public func isEqualInConstantTime(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }
    }
}

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

extension SecretBytes {
    /// The first line, without its line break.
    package func firstLine() -> SecretBytes {
        withBytes { bytes in
            var end = 0
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            if end > 0, end < bytes.count, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
            return SecretBytes(copying: bytes.extracting(0..<end))
        }
    }
}

/// The only source of randomness: OpenSSL's generator, seeded by the kernel.
public enum Randomness {
    /// Generates `count` random bytes that are not secret, such as a salt, a nonce or an
    /// identifier.
    public static func bytes(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = unsafe RAND_bytes(&bytes, Int32(count))
        require(done == 1, .random)
        return bytes
    }

    /// Generates `count` secret random bytes, such as a key.
    public static func secret(count: Int) -> SecretBytes {
        unsafe SecretBytes(count: count) { bytes in
            let done = unsafe RAND_priv_bytes(bytes.baseAddress, Int32(count))
            require(done == 1, .random)
        }
    }
}

/// OpenSSL's locked heap, created once per process.
enum SecretHeap {
    private static let smallestBlock = 32
    /// The heap's size without a limit.
    ///
    /// Pages are locked when touched, so unused ones cost nothing.
    private static let largest = 4 << 20
    /// A smaller heap is useless: it could barely hold OpenSSL's own secrets.
    private static let smallest = 16 << 10

    // A `static let` is initialised once, even if several threads use it first.
    private static let made = make()

    /// The number of bytes of secrets that can be kept out of swap; 0 if nothing can be locked.
    static var lockedSize: Int { made.isLocked ? made.size : 0 }

    /// Whether a heap of the full size is locked.
    static var isFullyLocked: Bool { lockedSize == largest }

    /// Creates the heap if it does not exist yet.
    static func prepare() { _ = made }

    /// Creates the largest heap that `RLIMIT_MEMLOCK` lets this process lock.
    private static func make() -> (size: Int, isLocked: Bool) {
        var size = largest
        while size >= smallest {
            switch CRYPTO_secure_malloc_init(size, smallestBlock) {
            case 1: return (size, true)
            // The heap exists, but the system did not lock it.
            case 2: CRYPTO_secure_malloc_done()
            default: break
            }
            size /= 2
        }
        // A heap that is not locked still has guard pages and is wiped.
        return (largest, CRYPTO_secure_malloc_init(largest, smallestBlock) == 1)
    }

    /// The part of the heap that only OpenSSL uses: each thread's random number generator is kept
    /// there and cannot be kept anywhere else.
    private static var roomOfOpenSSL: Int { min(512 << 10, made.size / 2) }
    /// The part that only keys of vaults use: enough for 2,000.
    private static var roomOfKeys: Int { min(64 << 10, made.size / 8) }

    /// Held while a thread checks how much is left and allocates it.
    private static let turn = Mutex(())

    /// Allocates `count` zeroed bytes, locked while there is room in the heap.
    ///
    /// When the heap is full, ordinary memory is used; `CRYPTO_secure_clear_free` also wipes it.
    /// An import of many keys must not fail because of the limit.
    ///
    /// - Parameter isKey: whether they are the key of a vault.
    static func allocate(_ count: Int, isKey: Bool = false) -> UnsafeMutableRawPointer? {
        let room = made.size - roomOfOpenSSL - (isKey ? 0 : roomOfKeys)
        // OpenSSL rounds up to a power of two.
        var block = smallestBlock
        while block < count { block *= 2 }
        let locked = turn.withLock { _ -> UInt? in
            guard block <= room - min(CRYPTO_secure_used(), room) else { return nil }
            let bytes = unsafe CRYPTO_secure_zalloc(count, "SecretBytes", 0)
            return unsafe bytes == nil ? nil : UInt(bitPattern: bytes)
        }
        if let locked { return unsafe UnsafeMutableRawPointer(bitPattern: locked) }
        // A failed allocation left an entry in OpenSSL's error queue, which must not be reported
        // later.
        ERR_clear_error()
        return unsafe CRYPTO_zalloc(count, "SecretBytes", 0)
    }

    /// Whether these bytes cannot be written to swap.
    static func isLocked(_ bytes: UnsafeMutableRawPointer) -> Bool {
        unsafe made.isLocked && CRYPTO_secure_allocated(bytes) == 1
    }
}

extension SecretBytes {
    /// The number of bytes of secrets that this process can keep out of swap; `nil` if the limit is
    /// high enough.
    public static var lockedLimit: Int? {
        SecretHeap.isFullyLocked ? nil : SecretHeap.lockedSize
    }
}
