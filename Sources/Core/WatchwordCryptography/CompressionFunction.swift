internal import COpenSSL

// OpenSSL's compression functions, deprecated but exported, are the only way to keep a hash state
// as a value. They avoid EVP calls: the first one in a process takes 0.85 ms, and each one
// allocates heap memory.
/// The compression function of a hash: it mixes one block into a state of up to eight words.
///
/// A state is at the start of OpenSSL's context. The fields after it are for `Update` and `Final`;
/// the compression neither reads nor writes them.
protocol CompressionFunction {
    /// A word of the state, or of the block, which has sixteen words.
    associatedtype Word: FixedWidthInteger & SIMDScalar & UnsignedInteger
    associatedtype Context

    /// The number of words of the state that make up a digest.
    static var stateWords: Int { get }

    /// Sets the initial state.
    static func start(_ context: UnsafeMutablePointer<Context>)

    /// Mixes one block into the state.
    static func compress(_ context: UnsafeMutablePointer<Context>, _ block: UnsafeRawPointer)

    /// Reads the state; words that the hash does not have are zero.
    static func state(at memory: UnsafeRawPointer) -> SIMD8<Word>

    /// The state as the digest's 32-bit words, in order.
    static func digestWords(_ state: SIMD8<Word>) -> SIMD16<UInt32>

    /// A block that begins with these sixteen bytes and is otherwise zero.
    static func block(_ first: UInt64, _ second: UInt64) -> SIMD16<Word>

    /// Hashes a key that is longer than a block into `digest`.
    static func hash(_ key: UnsafeRawBufferPointer, to digest: UnsafeMutablePointer<UInt8>)
}

extension CompressionFunction {
    static var blockCount: Int { 16 * MemoryLayout<Word>.size }
    static var digestCount: Int { stateWords * MemoryLayout<Word>.size }

    @inline(__always)
    static func state(at memory: UnsafeRawPointer) -> SIMD8<Word> {
        unsafe memory.loadUnaligned(as: SIMD8<Word>.self)
    }
}

extension CompressionFunction where Word == UInt32 {
    @inline(__always)
    static func digestWords(_ state: SIMD8<UInt32>) -> SIMD16<UInt32> {
        SIMD16(lowHalf: state, highHalf: .zero)
    }

    @inline(__always)
    static func block(_ first: UInt64, _ second: UInt64) -> SIMD16<UInt32> {
        var block = SIMD8<UInt64>.zero
        block[0] = first
        block[1] = second
        return unsafe unsafeBitCast(block, to: SIMD16<UInt32>.self)
    }
}

enum SHA1Compression: CompressionFunction {
    static var stateWords: Int { 5 }

    @inline(__always)
    static func start(_ context: UnsafeMutablePointer<SHA_CTX>) { unsafe SHA1_Init(context) }

    @inline(__always)
    static func compress(_ context: UnsafeMutablePointer<SHA_CTX>, _ block: UnsafeRawPointer) {
        unsafe SHA1_Transform(context, block.assumingMemoryBound(to: UInt8.self))
    }

    // The state is loaded in the widths in which it was stored (sixteen bytes and four): a load of
    // any other width would stall until the store completes.
    @inline(__always)
    static func state(at memory: UnsafeRawPointer) -> SIMD8<UInt32> {
        let first = unsafe memory.loadUnaligned(as: SIMD4<UInt32>.self)
        let last = unsafe memory.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
        return SIMD8(lowHalf: first, highHalf: SIMD4(last, 0, 0, 0))
    }

    static func hash(_ key: UnsafeRawBufferPointer, to digest: UnsafeMutablePointer<UInt8>) {
        var context = SHA_CTX()
        unsafe SHA1_Init(&context)
        unsafe SHA1_Update(&context, key.baseAddress, key.count)
        unsafe SHA1_Final(digest, &context)
    }
}

enum SHA256Compression: CompressionFunction {
    typealias Word = UInt32
    static var stateWords: Int { 8 }

    @inline(__always)
    static func start(_ context: UnsafeMutablePointer<SHA256_CTX>) { unsafe SHA256_Init(context) }

    @inline(__always)
    static func compress(_ context: UnsafeMutablePointer<SHA256_CTX>, _ block: UnsafeRawPointer) {
        unsafe SHA256_Transform(context, block.assumingMemoryBound(to: UInt8.self))
    }

    static func hash(_ key: UnsafeRawBufferPointer, to digest: UnsafeMutablePointer<UInt8>) {
        var context = SHA256_CTX()
        unsafe SHA256_Init(&context)
        unsafe SHA256_Update(&context, key.baseAddress, key.count)
        unsafe SHA256_Final(digest, &context)
    }
}

enum SHA512Compression: CompressionFunction {
    typealias Word = UInt64
    static var stateWords: Int { 8 }

    @inline(__always)
    static func start(_ context: UnsafeMutablePointer<SHA512_CTX>) { unsafe SHA512_Init(context) }

    @inline(__always)
    static func compress(_ context: UnsafeMutablePointer<SHA512_CTX>, _ block: UnsafeRawPointer) {
        unsafe SHA512_Transform(context, block.assumingMemoryBound(to: UInt8.self))
    }

    @inline(__always)
    static func block(_ first: UInt64, _ second: UInt64) -> SIMD16<UInt64> {
        var block = SIMD16<UInt64>.zero
        block[0] = first
        block[1] = second
        return block
    }

    @inline(__always)
    static func digestWords(_ state: SIMD8<UInt64>) -> SIMD16<UInt32> {
        var words = SIMD16<UInt32>.zero
        for index in 0..<8 {
            words[2 * index] = UInt32(truncatingIfNeeded: state[index] >> 32)
            words[2 * index + 1] = UInt32(truncatingIfNeeded: state[index])
        }
        return words
    }

    static func hash(_ key: UnsafeRawBufferPointer, to digest: UnsafeMutablePointer<UInt8>) {
        var context = SHA512_CTX()
        unsafe SHA512_Init(&context)
        unsafe SHA512_Update(&context, key.baseAddress, key.count)
        unsafe SHA512_Final(digest, &context)
    }
}

/// Checks that OpenSSL's compression functions work as expected.
///
/// They are deprecated: a later OpenSSL could keep their names and change the layout of their
/// contexts. Each function therefore computes a known HMAC once per process (RFC 4226, appendix D,
/// count 0, and the same input with the longer hashes). If the result is wrong, ``EVPKey`` computes
/// the codes.
enum CompressionCheck {
    static func isPassed(by algorithm: HashAlgorithm) -> Bool {
        switch algorithm {
        case .sha1: sha1
        case .sha256: sha256
        case .sha512: sha512
        }
    }

    // A `static let` is initialised once, even if several threads use it first.
    private static let sha1 =
        HMACStates<SHA1Compression>.truncate(0, key: knownKey.span) == 1_284_755_224
    private static let sha256 =
        HMACStates<SHA256Compression>.truncate(0, key: knownKey.span) == 2_074_875_740
    private static let sha512 =
        HMACStates<SHA512Compression>.truncate(0, key: knownKey.span) == 604_125_165

    /// “12345678901234567890”, the key in the RFC's appendix.
    ///
    /// It is not secret.
    private static var knownKey: [UInt8] { (0..<20).map { 0x30 + UInt8(($0 + 1) % 10) } }
}
