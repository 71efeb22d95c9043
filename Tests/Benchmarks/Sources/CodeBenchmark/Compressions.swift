import COpenSSLAlone

/// The minimum work of a code: OpenSSL's compressions alone, each chained to the previous one.
enum Compressions {
    static func sha1(_ count: Int) {
        var context = SHA_CTX()
        SHA1_Init(&context)
        chain(count) { SHA1_Transform(&context, $0) }
    }

    static func sha256(_ count: Int) {
        var context = SHA256_CTX()
        SHA256_Init(&context)
        chain(count) { SHA256_Transform(&context, $0) }
    }

    static func sha512(_ count: Int) {
        var context = SHA512_CTX()
        SHA512_Init(&context)
        chain(count) { SHA512_Transform(&context, $0) }
    }

    @inline(__always)
    private static func chain(_ count: Int, _ compress: (UnsafePointer<UInt8>) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 64) { block in
            block.initializeMemory(as: UInt8.self, repeating: 0)
            guard let start = block.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
            for _ in 0..<count { compress(start) }
        }
    }
}
