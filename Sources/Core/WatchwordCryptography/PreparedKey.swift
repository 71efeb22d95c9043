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
