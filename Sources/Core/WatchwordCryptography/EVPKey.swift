internal import COpenSSL

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
