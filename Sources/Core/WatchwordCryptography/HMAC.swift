internal import COpenSSL

/// The HMAC (RFC 2104) of `message` under `key`, as long as the algorithm's digest.
///
/// The result is not secret; compare it with ``isEqualInConstantTime(_:_:)``.
///
/// - Throws: ``CryptographyFailure`` if OpenSSL does not offer the algorithm.
public func hmac(
    _ algorithm: HashAlgorithm, key: SecretBytes, message: Span<UInt8>
) throws(CryptographyFailure) -> [UInt8] {
    var stream = try HMACStream(algorithm, key: key)
    try stream.update(message)
    return try stream.finish()
}

/// An HMAC over a message that arrives in pieces.
@safe public struct HMACStream: ~Copyable {
    private let context: OpaquePointer
    private let count: Int

    /// Starts an HMAC under `key`, which may have any length, including zero.
    public init(_ algorithm: HashAlgorithm, key: SecretBytes) throws(CryptographyFailure) {
        guard let ready = unsafe HMAC_CTX_new() else { throw CryptographyFailure(.hmac) }
        let started = key.withBytes { key in
            unsafe key.withUnsafeBytes { key in
                unsafe HMAC_Init_ex(
                    ready, key.baseAddress, Int32(key.count), algorithm.openSSL, nil)
            }
        }
        guard started == 1 else {
            unsafe HMAC_CTX_free(ready)
            throw CryptographyFailure(.hmac)
        }
        unsafe context = ready
        count = algorithm.digestCount
    }

    /// Adds the next piece of the message.
    public mutating func update(_ bytes: Span<UInt8>) throws(CryptographyFailure) {
        let done = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe HMAC_Update(context, bytes.baseAddress, bytes.count)
        }
        guard done == 1 else { throw CryptographyFailure(.hmac) }
    }

    /// Ends the message and returns its HMAC.
    public consuming func finish() throws(CryptographyFailure) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        guard unsafe HMAC_Final(context, &result, nil) == 1 else {
            throw CryptographyFailure(.hmac)
        }
        return result
    }

    deinit { unsafe HMAC_CTX_free(context) }
}
