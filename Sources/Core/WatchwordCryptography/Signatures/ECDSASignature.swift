internal import COpenSSL

/// The DER encoding of an ECDSA signature (RFC 3279, section 2.2.3).
///
/// - Parameters:
///   - r: the first number, big-endian.
///   - s: the second number, big-endian.
public func ecdsaSignature(r: Span<UInt8>, s: Span<UInt8>) -> [UInt8] {
    guard let signature = unsafe ECDSA_SIG_new() else { endProcess(after: .sign) }
    defer { unsafe ECDSA_SIG_free(signature) }
    guard let first = BigNumber(r), let second = BigNumber(s) else { endProcess(after: .sign) }
    // The signature owns the copies.
    let (ownR, ownS) = unsafe (BN_dup(first.number), BN_dup(second.number))
    let isSet = unsafe ECDSA_SIG_set0(signature, ownR, ownS) == 1
    require(isSet, .sign)
    let count = unsafe i2d_ECDSA_SIG(signature, nil)
    require(count > 0, .sign)
    var encoded = [UInt8](repeating: 0, count: Int(count))
    let written = unsafe encoded.withUnsafeMutableBufferPointer { buffer in
        var next = buffer.baseAddress
        return unsafe i2d_ECDSA_SIG(signature, &next)
    }
    require(written == count, .sign)
    return encoded
}
