internal import COpenSSL

/// The DER encoding of an ECDSA signature (RFC 3279, section 2.2.3).
///
/// - Parameters:
///   - r: the first number, big-endian.
///   - s: the second number, big-endian.
public func ecdsaSignature(
    r: Span<UInt8>, s: Span<UInt8>
) throws(CryptographyFailure) -> [UInt8] {
    guard let signature = unsafe ECDSA_SIG_new() else { throw CryptographyFailure(.sign) }
    defer { unsafe ECDSA_SIG_free(signature) }
    guard let first = BigNumber(r), let second = BigNumber(s) else {
        throw CryptographyFailure(.sign)
    }
    // The signature owns the copies.
    let (ownR, ownS) = unsafe (BN_dup(first.number), BN_dup(second.number))
    guard unsafe ECDSA_SIG_set0(signature, ownR, ownS) == 1 else {
        unsafe BN_free(ownR)
        unsafe BN_free(ownS)
        throw CryptographyFailure(.sign)
    }
    let count = unsafe i2d_ECDSA_SIG(signature, nil)
    guard count > 0 else { throw CryptographyFailure(.sign) }
    var encoded = [UInt8](repeating: 0, count: Int(count))
    let written = unsafe encoded.withUnsafeMutableBufferPointer { buffer in
        var next = buffer.baseAddress
        return unsafe i2d_ECDSA_SIG(signature, &next)
    }
    guard written == count else { throw CryptographyFailure(.sign) }
    return encoded
}
