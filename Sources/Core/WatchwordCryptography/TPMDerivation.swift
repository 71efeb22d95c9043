internal import COpenSSL

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

/// Derives `count` bytes from a shared secret with SHA-256 in counter mode (NIST SP 800-56C, section
/// 4.1), which TPMs call KDFe.
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
