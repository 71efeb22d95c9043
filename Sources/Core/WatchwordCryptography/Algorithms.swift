internal import COpenSSL

// Digests, HMAC, HKDF, AES-256-GCM and random bytes do not throw. Their input never makes them
// fail: only a lack of memory does, or a configuration of OpenSSL without the algorithm (for
// example a FIPS provider). The second is reported here, before the first use; everything else ends
// the process.

/// Fetches the algorithms whose use reports no error: digests, HMAC, HKDF, AES-256-GCM, and random
/// bytes.
///
/// A program calls this when it starts, or when it first reads keys. The algorithms are looked up
/// once per process.
///
/// - Throws: ``CryptographyFailure``, which names the first one that OpenSSL does not offer.
public func fetchAlgorithms() throws(CryptographyFailure) { try fetched.get() }

private let fetched: Result<Void, CryptographyFailure> = {
    let checks: [(call: CryptographyFailure.Call, isAvailable: () -> Bool)] = [
        (.digest, { Digest.all.allSatisfy { unsafe $0.handle != nil } }),
        (.hmac, { HashAlgorithm.allCases.allSatisfy(HMACStream.isAvailable) }),
        (.hkdf, isHKDFAvailable),
        (.cipher, { CipherContext.isAvailable }),
        (.random, { RAND_status() == 1 }),
    ]
    let missing = checks.first { !$0.isAvailable() }
    return missing.map { .failure(CryptographyFailure($0.call)) } ?? .success(())
}()

/// Loads what this module needs from the system, before the process gives up files and locked
/// memory.
///
/// OpenSSL reads its configuration when it is first used, and the heap for secrets is locked when
/// the first secret is created.
///
/// - Throws: ``CryptographyFailure`` if OpenSSL cannot be initialised, or lacks an algorithm.
public func prepareConfinedCryptography() throws(CryptographyFailure) {
    SecretHeap.prepare()
    guard OPENSSL_init_crypto(UInt64(OPENSSL_INIT_LOAD_CONFIG), nil) == 1 else {
        throw CryptographyFailure(.cipher)
    }
    try fetchAlgorithms()
    // The first HMAC also loads the digests and OpenSSL's per-thread state.
    let key = SecretBytes(copying: [0].span)
    _ = try pbkdf2(.sha512, password: key, salt: [0].span, iterations: 1, count: 1)
}

/// Ends the process unless a call into OpenSSL succeeded.
///
/// Once ``fetchAlgorithms()`` has succeeded, only a lack of memory makes such a call fail.
func require(_ isDone: Bool, _ call: CryptographyFailure.Call) {
    if !isDone { endProcess(after: call) }
}

/// Ends the process because such a call failed.
func endProcess(after call: CryptographyFailure.Call) -> Never {
    preconditionFailure(
        "OpenSSL failed (\(call.rawValue)): it lacks the algorithm, or the system is out of memory")
}
