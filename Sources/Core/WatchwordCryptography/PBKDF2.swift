internal import COpenSSL

/// Derives `count` bytes from a password with PBKDF2 and HMAC (RFC 8018, section 5.2).
///
/// The time is proportional to `iterations`, times the number of digests in `count` bytes.
///
/// - Throws: ``CryptographyFailure`` if OpenSSL does not offer the algorithm.
public func pbkdf2(
    _ algorithm: HashAlgorithm, password: SecretBytes, salt: Span<UInt8>, iterations: Int,
    count: Int
) throws(CryptographyFailure) -> SecretBytes {
    precondition((1...Int(Int32.max)).contains(iterations), "an iteration count is positive")
    return try unsafe SecretBytes(count: count) { output throws(CryptographyFailure) in
        let done = password.withBytes { password in
            unsafe password.withUnsafeBytes { password in
                unsafe salt.withUnsafeBufferPointer { salt in
                    unsafe PKCS5_PBKDF2_HMAC(
                        password.baseAddress?.assumingMemoryBound(to: CChar.self),
                        Int32(password.count), salt.baseAddress, Int32(salt.count),
                        Int32(iterations), algorithm.openSSL, Int32(count), output.baseAddress)
                }
            }
        }
        guard done == 1 else { throw CryptographyFailure(.pbkdf2) }
    }
}
