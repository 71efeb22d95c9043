internal import COpenSSL

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
