internal import COpenSSL

/// OpenSSL's locked heap, made once for the process.
enum SecretHeap {
    /// Bytes in the heap: locked as they are touched, so an unused rest costs nothing.
    private static let size = 4 << 20
    private static let smallestBlock = 32
    /// Bytes that are left to OpenSSL itself: each thread's random generator lives there, too, and
    /// has no other place to go to.
    private static let reserve = 512 << 10

    // A `static let` runs once, whoever comes first. Without locked memory OpenSSL's secure calls
    // fall back to the ordinary heap, and `CRYPTO_secure_clear_free` wipes there, too.
    private static let isReady: Bool = CRYPTO_secure_malloc_init(size, smallestBlock) == 1

    /// Makes the heap unless it is there.
    static func prepare() { _ = isReady }

    /// Zeroed memory for `count` bytes, locked while there is room in the heap.
    ///
    /// What a full heap does not take lives in ordinary memory, and `CRYPTO_secure_clear_free`
    /// wipes it there, too: an import of many keys is no reason to stop.
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
        if count <= size - reserve - min(CRYPTO_secure_used(), size - reserve) {
            let locked = unsafe CRYPTO_secure_zalloc(count, "SecretBytes", 0)
            if unsafe locked != nil { return unsafe locked }
            // The refusal left an entry in OpenSSL's queue of errors, which is nobody's failure.
            ERR_clear_error()
        }
        return unsafe CRYPTO_zalloc(count, "SecretBytes", 0)
    }
}
