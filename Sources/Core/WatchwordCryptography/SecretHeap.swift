internal import COpenSSL
internal import Synchronization

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

    /// Only one thread at a time looks how much is left and takes it.
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
