internal import COpenSSL

/// Loads what this module needs from the system, before the process gives up files and locked
/// memory.
///
/// OpenSSL reads its configuration when it is first used, and the heap for secrets is locked when
/// the first secret is created.
///
/// - Throws: ``CryptographyFailure`` if OpenSSL cannot be initialised.
public func prepareConfinedCryptography() throws(CryptographyFailure) {
    SecretHeap.prepare()
    guard OPENSSL_init_crypto(UInt64(OPENSSL_INIT_LOAD_CONFIG), nil) == 1 else {
        throw CryptographyFailure(.cipher)
    }
    // The first HMAC also loads the digests and OpenSSL's per-thread state.
    let key = SecretBytes(copying: [0].span)
    _ = try pbkdf2(.sha512, password: key, salt: [0].span, iterations: 1, count: 1)
}
