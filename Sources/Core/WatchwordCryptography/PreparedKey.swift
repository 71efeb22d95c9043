internal import COpenSSL

/// A key prepared for many HMACs of eight-byte counters, as one-time passwords need them.
///
/// It keeps the two hash states after HMAC's inner and outer pad (RFC 2104, section 4), so that an
/// HMAC costs two compressions and no heap allocation. The states are as secret as the key. They
/// are kept in the locked heap while it has space, and wiped when the value is destroyed. The key
/// itself is not kept.
@safe public struct PreparedKey: ~Copyable, @unchecked Sendable {
    // `@unchecked Sendable`: the states are written only in the initialiser.
    /// How an HMAC is computed.
    private enum Path {
        case sha1, sha256, sha512, envelope
    }

    /// The hash function under the HMAC.
    public let algorithm: HashAlgorithm
    private let path: Path
    private let states: UnsafeMutableRawPointer
    private let envelope: EVPKey?
    private static let byteCount = 2 * MemoryLayout<SIMD8<UInt64>>.size

    /// Prepares `key`, which may have any length.
    public init(_ key: SecretBytes, algorithm: HashAlgorithm) {
        self.init(
            key, algorithm: algorithm, isEnveloped: !CompressionCheck.isPassed(by: algorithm))
    }

    /// Prepares `key` for the given path, regardless of ``CompressionCheck``.
    init(_ key: SecretBytes, algorithm: HashAlgorithm, isEnveloped: Bool) {
        self.algorithm = algorithm
        SecretHeap.prepare()
        let allocated = unsafe SecretHeap.allocate(Self.byteCount)
        guard let ready = unsafe allocated else { preconditionFailure("out of memory") }
        unsafe states = ready
        guard !isEnveloped else {
            path = .envelope
            envelope = EVPKey(key, algorithm: algorithm)
            return
        }
        envelope = nil
        switch algorithm {
        case .sha1:
            path = .sha1
            key.withBytes { unsafe HMACStates<SHA1Compression>.prepare($0, at: ready) }
        case .sha256:
            path = .sha256
            key.withBytes { unsafe HMACStates<SHA256Compression>.prepare($0, at: ready) }
        case .sha512:
            path = .sha512
            key.withBytes { unsafe HMACStates<SHA512Compression>.prepare($0, at: ready) }
        }
    }

    /// The HMAC of `counter` as eight big-endian bytes (RFC 4226, section 5.2).
    public func authenticationCode(of counter: UInt64) -> CounterDigest {
        switch path {
        case .sha1: unsafe HMACStates<SHA1Compression>.authenticate(counter, from: states)
        case .sha256: unsafe HMACStates<SHA256Compression>.authenticate(counter, from: states)
        case .sha512: unsafe HMACStates<SHA512Compression>.authenticate(counter, from: states)
        case .envelope: enveloped(counter)
        }
    }

    /// The same HMAC, truncated to 31 bits (RFC 4226, section 5.3), as ``CounterDigest/truncated``
    /// does, but faster.
    public func truncatedCode(of counter: UInt64) -> UInt32 {
        switch path {
        case .sha1: unsafe HMACStates<SHA1Compression>.truncate(counter, from: states)
        case .sha256: unsafe HMACStates<SHA256Compression>.truncate(counter, from: states)
        case .sha512: unsafe HMACStates<SHA512Compression>.truncate(counter, from: states)
        case .envelope: enveloped(counter).truncated
        }
    }

    /// The truncated HMAC of one counter, under a key that is used once.
    ///
    /// It allocates no heap memory, and wipes the key's blocks on the stack.
    public static func truncatedCode(
        of counter: UInt64, key: SecretBytes, algorithm: HashAlgorithm
    ) -> UInt32 {
        guard CompressionCheck.isPassed(by: algorithm) else {
            return PreparedKey(key, algorithm: algorithm).truncatedCode(of: counter)
        }
        return key.withBytes { key in
            switch algorithm {
            case .sha1: HMACStates<SHA1Compression>.truncate(counter, key: key)
            case .sha256: HMACStates<SHA256Compression>.truncate(counter, key: key)
            case .sha512: HMACStates<SHA512Compression>.truncate(counter, key: key)
            }
        }
    }

    @inline(never)
    private func enveloped(_ counter: UInt64) -> CounterDigest {
        guard let envelope else { preconditionFailure("the key was prepared for this path") }
        return envelope.authenticationCode(of: counter)
    }

    deinit { unsafe CRYPTO_secure_clear_free(states, Self.byteCount, "PreparedKey", 0) }
}

/// Computes the HMACs of ``PreparedKey`` through OpenSSL's EVP interface, from copies of two
/// contexts.
///
/// ``PreparedKey`` falls back to this class if ``CompressionCheck`` finds that the compression
/// functions, which OpenSSL has deprecated, do not work as expected. It takes two to three times as
/// long, and allocates heap memory.
@safe final class EVPKey: @unchecked Sendable {
    // `@unchecked Sendable`: the contexts are written only in the initialiser; each HMAC works on
    // copies.
    private let algorithm: HashAlgorithm
    private let inner: EVPContext
    private let outer: EVPContext

    init(_ key: SecretBytes, algorithm: HashAlgorithm) {
        self.algorithm = algorithm
        let blockCount = algorithm == .sha512 ? 128 : 64
        // The key, or the digest of a longer one, padded with zeros.
        let block = SecretBytes(capacity: blockCount) { output in
            key.withBytes { key in
                if key.count > blockCount {
                    let context = EVPContext(algorithm)
                    context.update(key)
                    let digest = context.finish()
                    for index in 0..<algorithm.digestCount { output.append(digest[index]) }
                } else {
                    output.append(copying: key)
                }
            }
            while output.count < blockCount { output.append(0) }
        }
        inner = Self.state(after: 0x36, block, algorithm)
        outer = Self.state(after: 0x5c, block, algorithm)
    }

    private static func state(
        after pad: UInt8, _ block: SecretBytes, _ algorithm: HashAlgorithm
    ) -> EVPContext {
        let context = EVPContext(algorithm)
        let padded = SecretBytes(capacity: block.count) { output in
            block.withBytes { for index in $0.indices { output.append($0[index] ^ pad) } }
        }
        padded.withBytes { context.update($0) }
        return context
    }

    func authenticationCode(of counter: UInt64) -> CounterDigest {
        var message: [8 of UInt8] = .init(repeating: 0)
        for index in 0..<8 {
            message[index] = UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * index))
        }
        let first = EVPContext(copying: inner)
        first.update(message.span)
        let middle = first.finish()
        let second = EVPContext(copying: outer)
        second.update(middle.span.extracting(..<algorithm.digestCount))
        let last = second.finish()
        var words = SIMD16<UInt32>.zero
        for index in 0..<algorithm.digestCount {
            words[index / 4] = words[index / 4] << 8 | UInt32(last[index])
        }
        return CounterDigest(words: words, count: algorithm.digestCount / 4)
    }
}

/// OpenSSL's context for one digest.
///
/// Its methods call OpenSSL, which fails only if memory runs out or if it lacks the algorithm. In
/// either case, no code can be computed, and the process ends.
@safe final class EVPContext {
    private let context: OpaquePointer

    init(_ algorithm: HashAlgorithm) {
        guard let ready = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        unsafe context = ready
        let done = unsafe EVP_DigestInit_ex(context, algorithm.openSSL, nil)
        precondition(done == 1, "OpenSSL has the hash functions of one-time passwords")
    }

    init(copying other: EVPContext) {
        guard let ready = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        unsafe context = ready
        let done = unsafe EVP_MD_CTX_copy_ex(context, other.context)
        precondition(done == 1, "out of memory")
    }

    func update(_ bytes: Span<UInt8>) {
        let done = unsafe bytes.withUnsafeBytes { bytes in
            unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        }
        precondition(done == 1, "the digest could not be updated")
    }

    func finish() -> [64 of UInt8] {
        var digest: [64 of UInt8] = .init(repeating: 0)
        var span = digest.mutableSpan
        let done = unsafe span.withUnsafeMutableBufferPointer { digest in
            unsafe EVP_DigestFinal_ex(context, digest.baseAddress, nil)
        }
        precondition(done == 1, "the digest could not be finished")
        return digest
    }

    // OpenSSL wipes a context when it frees it.
    deinit { unsafe EVP_MD_CTX_free(context) }
}
