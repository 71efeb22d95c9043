internal import COpenSSL

// `@unchecked Sendable`: the contexts are written only in the initialiser; each HMAC works on
// copies.
/// A key prepared for many HMACs with SHA-256 (RFC 2104) of messages of any length.
///
/// It keeps the two hash contexts after HMAC's inner and outer pad, so that an HMAC costs the
/// compressions of its message plus two more, and allocates only its result. The contexts are as
/// secret as the key. They are kept in the locked heap while it has space, and wiped with the
/// object.
@safe public final class HMACKey: @unchecked Sendable {
    private typealias Context = SHA256_CTX
    private static let blockCount = 64
    private static let digestCount = 32
    private static let byteCount = 2 * MemoryLayout<Context>.stride

    private let memory: UnsafeMutableRawPointer
    private var inner: UnsafePointer<Context> {
        unsafe UnsafePointer(memory.assumingMemoryBound(to: Context.self))
    }
    private var outer: UnsafePointer<Context> { unsafe inner + 1 }

    /// Prepares a key of any length, including zero.
    public init(_ key: SecretBytes) {
        let block = Self.block(key)
        SecretHeap.prepare()
        guard let ready = unsafe SecretHeap.allocate(Self.byteCount) else {
            preconditionFailure("out of memory")
        }
        unsafe memory = ready
        let contexts = unsafe ready.bindMemory(to: Context.self, capacity: 2)
        for (place, pad) in [UInt8(0x36), 0x5c].enumerated() {
            let padded = SecretBytes(capacity: Self.blockCount) { output in
                block.withBytes { for index in $0.indices { output.append($0[index] ^ pad) } }
            }
            let isReady = padded.withBytes { padded in
                unsafe SHA256_Init(contexts + place) == 1
                    && Self.update(contexts + place, padded)
            }
            precondition(isReady, "the hash contexts could not be updated")
        }
    }

    deinit { unsafe CRYPTO_secure_clear_free(memory, Self.byteCount, "HMACKey", 0) }

    /// The key, or the digest of a longer one, padded with zeros (RFC 2104, section 2).
    private static func block(_ key: SecretBytes) -> SecretBytes {
        unsafe SecretBytes(count: blockCount) { block in
            key.withBytes { key in
                unsafe key.withUnsafeBytes { key in
                    if key.count > blockCount, let start = block.baseAddress {
                        unsafe SHA256Compression.hash(key, to: start)
                    } else {
                        unsafe UnsafeMutableRawBufferPointer(block).copyMemory(from: key)
                    }
                }
            }
        }
    }

    /// The HMAC of `message`, 32 bytes.
    ///
    /// Compare it with ``isEqualInConstantTime(_:_:)``.
    public func authenticationCode(of message: Span<UInt8>) -> [UInt8] {
        unsafe authenticationCode { context in unsafe Self.update(context, message) }
    }

    /// The HMAC of `head` followed by a secret.
    public func authenticationCode(of head: Span<UInt8>, _ secret: SecretBytes) -> [UInt8] {
        unsafe authenticationCode { context in
            unsafe Self.update(context, head)
                && secret.withBytes { secret in unsafe Self.update(context, secret) }
        }
    }

    /// The HMAC of a secret, which is a secret itself.
    public func secretCode(of message: SecretBytes) -> SecretBytes {
        let none: [UInt8] = []
        var code = authenticationCode(of: none.span, message)
        defer {
            unsafe code.withUnsafeMutableBytes { bytes in
                unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count)
            }
        }
        return SecretBytes(copying: code.span)
    }

    private func authenticationCode(_ update: (UnsafeMutablePointer<Context>) -> Bool) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Self.digestCount)
        let isDone = unsafe withUnsafeTemporaryAllocation(of: Context.self, capacity: 1) { room in
            guard let context = room.baseAddress else { return false }
            // Anyone who read either context from the stack could authenticate any message.
            defer { unsafe OPENSSL_cleanse(context, MemoryLayout<Context>.size) }
            unsafe context.initialize(to: inner.pointee)
            guard unsafe update(context), unsafe SHA256_Final(&code, context) == 1 else {
                return false
            }
            unsafe context.pointee = unsafe outer.pointee
            return unsafe SHA256_Update(context, code, Self.digestCount) == 1
                && SHA256_Final(&code, context) == 1
        }
        require(isDone, .hmac)
        return code
    }

    private static func update(
        _ context: UnsafeMutablePointer<Context>, _ bytes: Span<UInt8>
    ) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe SHA256_Update(context, bytes.baseAddress, bytes.count) == 1
        }
    }
}

/// The HMAC (RFC 2104) of `message` under `key`, as long as the algorithm's digest.
///
/// The result is not secret; compare it with ``isEqualInConstantTime(_:_:)``.
public func hmac(_ algorithm: HashAlgorithm, key: SecretBytes, message: Span<UInt8>) -> [UInt8] {
    var stream = HMACStream(algorithm, key: key)
    stream.update(message)
    return stream.finish()
}

/// An HMAC over a message that arrives in pieces.
@safe public struct HMACStream: ~Copyable {
    private let context: OpaquePointer
    private let count: Int

    /// Starts an HMAC under `key`, which may have any length, including zero.
    public init(_ algorithm: HashAlgorithm, key: SecretBytes) {
        guard let ready = unsafe HMAC_CTX_new() else { endProcess(after: .hmac) }
        let started = key.withBytes { key in
            unsafe key.withUnsafeBytes { key in
                unsafe HMAC_Init_ex(
                    ready, key.baseAddress, Int32(key.count), algorithm.openSSL, nil)
            }
        }
        require(started == 1, .hmac)
        unsafe context = ready
        count = algorithm.digestCount
    }

    /// Whether OpenSSL offers HMAC with `algorithm`.
    static func isAvailable(_ algorithm: HashAlgorithm) -> Bool {
        var code = [UInt8](repeating: 0, count: algorithm.digestCount)
        return unsafe HMAC(algorithm.openSSL, [0], 1, [0], 1, &code, nil) != nil
    }

    /// Adds the next piece of the message.
    public mutating func update(_ bytes: Span<UInt8>) {
        let done = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe HMAC_Update(context, bytes.baseAddress, bytes.count)
        }
        require(done == 1, .hmac)
    }

    /// Ends the message and returns its HMAC.
    public consuming func finish() -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        let done = unsafe HMAC_Final(context, &result, nil)
        require(done == 1, .hmac)
        return result
    }

    deinit { unsafe HMAC_CTX_free(context) }
}
