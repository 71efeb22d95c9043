internal import COpenSSL

/// Derives `count` bytes from a secret with HKDF-SHA-256 (RFC 5869).
///
/// `info` binds the result to its purpose. Two purposes must never share the same `info`.
///
/// - Parameter count: at most 255 × 32.
public func hkdfSHA256(
    secret: SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int
) -> SecretBytes {
    hkdf(
        secret: secret, salt: salt, info: info, count: count,
        mode: EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND)
}

/// Derives `count` bytes with the second step of HKDF-SHA-256 alone (RFC 5869, section 2.3).
///
/// `key` must be a uniformly distributed key of at least 32 bytes.
///
/// - Parameter count: at most 255 × 32.
public func hkdfExpandSHA256(key: SecretBytes, info: Span<UInt8>, count: Int) -> SecretBytes {
    let none: [UInt8] = []
    return hkdf(
        secret: key, salt: none.span, info: info, count: count,
        mode: EVP_KDF_HKDF_MODE_EXPAND_ONLY)
}

/// Whether OpenSSL offers HKDF.
func isHKDFAvailable() -> Bool {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "HKDF", nil) else { return false }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    return unsafe EVP_PKEY_derive_init(context) == 1
}

private func hkdf(
    secret: SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int, mode: Int32
) -> SecretBytes {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "HKDF", nil) else {
        endProcess(after: .hkdf)
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    let isSet = secret.withBytes { secret in
        unsafe secret.withUnsafeBufferPointer { secret in
            unsafe salt.withUnsafeBufferPointer { salt in
                unsafe info.withUnsafeBufferPointer { info in
                    unsafe EVP_PKEY_derive_init(context) == 1
                        && EVP_PKEY_CTX_set_hkdf_mode(context, mode) == 1
                        && EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1
                        && EVP_PKEY_CTX_set1_hkdf_salt(
                            context, salt.baseAddress, Int32(salt.count)) == 1
                        && EVP_PKEY_CTX_set1_hkdf_key(
                            context, secret.baseAddress, Int32(secret.count)) == 1
                        && EVP_PKEY_CTX_add1_hkdf_info(
                            context, info.baseAddress, Int32(info.count)) == 1
                }
            }
        }
    }
    require(isSet, .hkdf)
    return unsafe SecretBytes(count: count) { output in
        var written = count
        let done = unsafe EVP_PKEY_derive(context, output.baseAddress, &written)
        require(done == 1 && written == count, .hkdf)
    }
}

/// Derives `count` bytes from a secret with HMAC-SHA-256 in counter mode (NIST SP 800-108, section
/// 4.1), which TPMs call KDFa.
///
/// - Throws: ``CryptographyFailure`` if OpenSSL does not offer the algorithm.
public func kbkdfSHA256(
    secret: SecretBytes, label: StaticString, context: Span<UInt8>, count: Int
) throws(CryptographyFailure) -> SecretBytes {
    try unsafe derive("KBKDF", .kbkdf, from: secret, count: count) { builder in
        unsafe context.withUnsafeBytes { context in
            unsafe OSSL_PARAM_BLD_push_utf8_string(
                builder, cString("mac"), cString("HMAC"), 0) == 1
                && OSSL_PARAM_BLD_push_octet_string(
                    builder, cString("salt"), label.utf8Start, label.utf8CodeUnitCount) == 1
                && OSSL_PARAM_BLD_push_octet_string(
                    builder, cString("info"), context.baseAddress, context.count) == 1
        }
    }
}

/// Derives `count` bytes from a shared secret with SHA-256 in counter mode (NIST SP 800-56C,
/// section 4.1), which TPMs call KDFe.
///
/// - Throws: ``CryptographyFailure`` if OpenSSL does not offer the algorithm.
public func sskdfSHA256(
    secret: SecretBytes, information: Span<UInt8>, count: Int
) throws(CryptographyFailure) -> SecretBytes {
    try unsafe derive("SSKDF", .sskdf, from: secret, count: count) { builder in
        unsafe information.withUnsafeBytes { information in
            unsafe OSSL_PARAM_BLD_push_octet_string(
                builder, cString("info"), information.baseAddress, information.count) == 1
        }
    }
}

/// Calls a derivation function with SHA-256 and the parameters that `push` adds.
private func derive(
    _ name: String, _ call: CryptographyFailure.Call, from secret: SecretBytes, count: Int,
    push: (OpaquePointer) -> Bool
) throws(CryptographyFailure) -> SecretBytes {
    guard let function = unsafe EVP_KDF_fetch(nil, name, nil) else {
        throw CryptographyFailure(call)
    }
    defer { unsafe EVP_KDF_free(function) }
    guard let derivation = unsafe EVP_KDF_CTX_new(function) else {
        throw CryptographyFailure(call)
    }
    defer { unsafe EVP_KDF_CTX_free(derivation) }
    guard let builder = unsafe OSSL_PARAM_BLD_new() else { throw CryptographyFailure(call) }
    defer { unsafe OSSL_PARAM_BLD_free(builder) }
    return try unsafe SecretBytes(count: count) { output throws(CryptographyFailure) in
        let isDerived = secret.withBytes { secret in
            unsafe secret.withUnsafeBytes { secret in
                guard
                    unsafe OSSL_PARAM_BLD_push_utf8_string(
                        builder, cString("digest"), cString("SHA2-256"), 0) == 1,
                    unsafe OSSL_PARAM_BLD_push_octet_string(
                        builder, cString("key"), secret.baseAddress, secret.count) == 1,
                    unsafe push(builder), let parameters = unsafe OSSL_PARAM_BLD_to_param(builder)
                else { return false }
                defer { unsafe freeWiped(parameters) }
                return unsafe EVP_KDF_derive(
                    derivation, output.baseAddress, output.count, parameters) == 1
            }
        }
        guard isDerived else { throw CryptographyFailure(call) }
    }
}

/// The parameters hold a copy of the secret.
private func freeWiped(_ parameters: UnsafeMutablePointer<OSSL_PARAM>) {
    if let key = unsafe OSSL_PARAM_locate(parameters, cString("key")) {
        unsafe OPENSSL_cleanse(key.pointee.data, key.pointee.data_size)
    }
    unsafe OSSL_PARAM_free(parameters)
}

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
    /// The parallelisation parameter p.
    public let parallelism: Int

    /// The cost for a new vault: N = 2^17, r = 8, p = 1, which is 128 MiB.
    public static let standard = ScryptCost(checkedLogN: 17, blockSize: 8, parallelism: 1)
    /// The lowest cost for a vault: N = 2^10, r = 8, p = 1.
    public static let lowest = ScryptCost(checkedLogN: 10, blockSize: 8, parallelism: 1)

    /// Sets N = 2^`logN`, r = 8 and p = 1; `nil` unless `logN` is 10 to 24.
    public init?(logN: Int) {
        guard (10...24).contains(logN) else { return nil }
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
