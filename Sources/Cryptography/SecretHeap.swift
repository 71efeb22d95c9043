internal import COpenSSL

/// OpenSSL's locked heap, made once for the process.
enum SecretHeap {
    private static let smallestBlock = 32
    /// Bytes in the heap where nobody limits it: locked as they are touched, so an unused rest costs nothing.
    private static let largest = 4 << 20
    /// Less is not worth having: OpenSSL's own secrets hardly fit.
    private static let smallest = 16 << 10

    // A `static let` runs once, whoever comes first.
    private static let made = make()

    /// How many bytes of secrets are kept from the disk; 0 where nothing can be locked.
    static var lockedSize: Int { made.isLocked ? made.size : 0 }

    /// Whether all that the heap is meant to hold is locked.
    static var isLockedWhole: Bool { lockedSize == largest }

    /// Makes the heap unless it is there.
    static func prepare() { _ = made }

    /// Takes the largest heap that `RLIMIT_MEMLOCK` lets this process lock.
    private static func make() -> (size: Int, isLocked: Bool) {
        var size = largest
        while size >= smallest {
            switch CRYPTO_secure_malloc_init(size, smallestBlock) {
            case 1: return (size, true)
            // It is there, and the system did not lock it.
            case 2: CRYPTO_secure_malloc_done()
            default: break
            }
            size /= 2
        }
        // One that is not locked is still fenced off and wiped.
        return (largest, CRYPTO_secure_malloc_init(largest, smallestBlock) == 1)
    }

    /// Zeroed memory for `count` bytes, locked while there is room in the heap.
    ///
    /// What a full heap does not take lives in ordinary memory, and `CRYPTO_secure_clear_free`
    /// wipes it there, too: an import of many keys is no reason to stop.
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
        // Some is left to OpenSSL itself: each thread's random generator lives there, too, and has no
        // other place to go to.
        let room = made.size - min(512 << 10, made.size / 2)
        if count <= room - min(CRYPTO_secure_used(), room) {
            let locked = unsafe CRYPTO_secure_zalloc(count, "SecretBytes", 0)
            if unsafe locked != nil { return unsafe locked }
            // The refusal left an entry in OpenSSL's queue of errors, which is nobody's failure.
            ERR_clear_error()
        }
        return unsafe CRYPTO_zalloc(count, "SecretBytes", 0)
    }
}

extension SecretBytes {
    /// How many bytes of secrets this process can keep from being written to swap; `nil` where there
    /// is no limit that matters.
    public static var lockedLimit: Int? {
        SecretHeap.isLockedWhole ? nil : SecretHeap.lockedSize
    }
}
