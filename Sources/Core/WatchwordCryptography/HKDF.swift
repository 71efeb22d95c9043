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
