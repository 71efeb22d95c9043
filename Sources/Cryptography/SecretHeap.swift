internal import COpenSSL

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

    /// Allocates `count` zeroed bytes, locked while the heap has space.
    ///
    /// When the heap is full, ordinary memory is used; `CRYPTO_secure_clear_free` also wipes it.
    /// An import of many keys must not fail because of the limit.
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
        // Reserve part of the heap for OpenSSL: each thread's random number generator is kept there
        // and cannot be kept anywhere else.
        let room = made.size - min(512 << 10, made.size / 2)
        if count <= room - min(CRYPTO_secure_used(), room) {
            let locked = unsafe CRYPTO_secure_zalloc(count, "SecretBytes", 0)
            if unsafe locked != nil { return unsafe locked }
            // The failed allocation left an entry in OpenSSL's error queue, which must not be
            // reported later.
            ERR_clear_error()
        }
        return unsafe CRYPTO_zalloc(count, "SecretBytes", 0)
    }
}

extension SecretBytes {
    /// The number of bytes of secrets that this process can keep out of swap; `nil` if the limit is
    /// high enough.
    public static var lockedLimit: Int? {
        SecretHeap.isFullyLocked ? nil : SecretHeap.lockedSize
    }
}
