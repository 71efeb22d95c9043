internal import COpenSSL

/// Derives `count` bytes from a passphrase with scrypt (RFC 7914).
///
/// `cost` determines the time that the derivation takes and the memory that it needs:
/// ``ScryptCost/memoryNeeded`` bytes.
///
/// - Throws: ``CryptographyFailure``, usually because there is not enough memory.
public func scrypt(
    passphrase: SecretBytes, salt: Span<UInt8>, cost: ScryptCost, count: Int
) throws(CryptographyFailure) -> SecretBytes {
    try unsafe SecretBytes(count: count) { output throws(CryptographyFailure) in
        let done = passphrase.withBytes { passphrase in
            unsafe passphrase.withUnsafeBytes { passphrase in
                unsafe salt.withUnsafeBufferPointer { salt in
                    // An empty passphrase may have a null address; pass OpenSSL a valid one
                    // instead.
                    let none: StaticString = ""
                    let text =
                        unsafe passphrase.baseAddress ?? UnsafeRawPointer(none.utf8Start)
                    return unsafe EVP_PBE_scrypt(
                        text.assumingMemoryBound(to: CChar.self), passphrase.count,
                        salt.baseAddress, salt.count, UInt64(1) << UInt64(cost.logN),
                        UInt64(cost.blockSize), UInt64(cost.parallelism),
                        UInt64(cost.memoryNeeded), output.baseAddress, count)
                }
            }
        }
        guard done == 1 else { throw CryptographyFailure(.scrypt) }
    }
}

/// The cost of one scrypt derivation (RFC 7914, section 2) in memory; the time is proportional to
/// it.
public struct ScryptCost: Hashable, Sendable {
    /// The base-two logarithm of N, between 10 and 24.
    public let logN: Int
    /// The block size r.
    public let blockSize: Int
    /// The parallelisation p.
    public let parallelism: Int

    /// The cost for a new vault: N = 2^17, r = 8, p = 1, which is 128 MiB.
    public static let standard = ScryptCost(checkedLogN: 17, blockSize: 8, parallelism: 1)

    /// Sets N = 2^`logN`, r = 8 and p = 1.
    ///
    /// - Throws: ``CryptographyError/costOutOfRange(logN:)`` unless `logN` is 10 to 24.
    public init(logN: Int) throws(CryptographyError) {
        guard (10...24).contains(logN) else { throw .costOutOfRange(logN: logN) }
        self.init(checkedLogN: logN, blockSize: 8, parallelism: 1)
    }

    /// Does not check the range: test vectors have costs outside it, and so have the files of other
    /// programs, whose costs the caller limits.
    package init(checkedLogN logN: Int, blockSize: Int, parallelism: Int) {
        self.logN = logN
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// The bytes of memory that the derivation needs, as OpenSSL counts them.
    public var memoryNeeded: Int {
        let block = 128 * blockSize
        return block * parallelism + block * ((1 << logN) + 2)
    }
}

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
