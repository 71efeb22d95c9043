internal import COpenSSL

/// A key made ready for many HMACs of eight-byte counters, as one-time passwords need them.
///
/// It keeps the two hash states after HMAC's inner and outer pad (RFC 2104, section 4), so that an
/// HMAC costs two compressions and no heap allocation. The states are as secret as the key: they
/// live in the locked heap while it has room and are wiped when the value's life ends; the key
/// itself is not kept.
@safe public struct PreparedKey: ~Copyable, @unchecked Sendable {
    // Sendable by hand: the states are written in the initialiser only.
    /// Which way an HMAC goes.
    private enum Path {
        case sha1, sha256, sha512, envelope
    }

    /// The hash function under the HMAC.
    public let algorithm: HashAlgorithm
    private let path: Path
    private let states: UnsafeMutableRawPointer
    private let envelope: EnvelopeKey?
    private static let byteCount = 2 * MemoryLayout<SIMD8<UInt64>>.size

    /// Prepares `key`, which may have any length.
    public init(_ key: SecretBytes, algorithm: HashAlgorithm) {
        self.init(
            key, algorithm: algorithm, isEnveloped: !CompressionCheck.isPassed(by: algorithm))
    }

    /// Prepares `key` for the way that is asked for, whatever ``CompressionCheck`` says.
    init(_ key: SecretBytes, algorithm: HashAlgorithm, isEnveloped: Bool) {
        self.algorithm = algorithm
        SecretHeap.prepare()
        let allocated = unsafe SecretHeap.allocate(Self.byteCount)
        guard let ready = unsafe allocated else { preconditionFailure("out of memory") }
        unsafe states = ready
        guard !isEnveloped else {
            path = .envelope
            envelope = EnvelopeKey(key, algorithm: algorithm)
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

    /// The HMAC of `counter`, written as eight bytes, most significant first (RFC 4226, section
    /// 5.2).
    public func authenticationCode(of counter: UInt64) -> CounterDigest {
        switch path {
        case .sha1: unsafe HMACStates<SHA1Compression>.authenticate(counter, from: states)
        case .sha256: unsafe HMACStates<SHA256Compression>.authenticate(counter, from: states)
        case .sha512: unsafe HMACStates<SHA512Compression>.authenticate(counter, from: states)
        case .envelope: enveloped(counter)
        }
    }

    /// The same HMAC, cut to 31 bits as RFC 4226, section 5.3 does: ``CounterDigest/truncated`` at
    /// once.
    public func truncatedCode(of counter: UInt64) -> UInt32 {
        switch path {
        case .sha1: unsafe HMACStates<SHA1Compression>.truncate(counter, from: states)
        case .sha256: unsafe HMACStates<SHA256Compression>.truncate(counter, from: states)
        case .sha512: unsafe HMACStates<SHA512Compression>.truncate(counter, from: states)
        case .envelope: enveloped(counter).truncated
        }
    }

    /// The truncated HMAC of one counter under a key that is needed once.
    ///
    /// Nothing is kept, so nothing is allocated; the key's blocks on the stack are wiped.
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
        guard let envelope else { preconditionFailure("this way was prepared") }
        return envelope.authenticationCode(of: counter)
    }

    deinit { unsafe CRYPTO_secure_clear_free(states, Self.byteCount, "PreparedKey", 0) }
}
