internal import COpenSSL

/// Why a certificate and a key do not make a server.
public enum TLSIdentityError: Error, Hashable, Sendable {
    /// The file holds no certificate in PEM.
    case noCertificate
    /// The file holds no private key in PEM, or one under a passphrase.
    case noKey
    /// The key is not the certificate's.
    case mismatched
    /// The certificate is good only from some later time on.
    case notYetValid
    /// The certificate's time is over.
    case expired
}

/// Looks whether a certificate (the first one of its file) and a private key belong together, and whether
/// the certificate is in force.
///
/// Who issued it, and for which name, is for the clients to judge.
///
/// - Parameter time: Unix seconds.
public func checkTLSIdentity(
    certificate: Span<UInt8>, key: SecretBytes, at time: Int64
) throws(TLSIdentityError) {
    let found = unsafe reading(certificate) { source in
        unsafe PEM_read_bio_X509(source, nil, refusePassphrase, nil)
    }
    guard let certificate = unsafe found else { throw .noCertificate }
    defer { unsafe X509_free(certificate) }
    let foundKey = unsafe key.withBytes { key in
        unsafe reading(key) { unsafe PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) }
    }
    // What did not work is said by the error; OpenSSL's own list is not to grow.
    defer { ERR_clear_error() }
    guard let key = unsafe foundKey else { throw .noKey }
    defer { unsafe EVP_PKEY_free(key) }
    guard unsafe X509_check_private_key(certificate, key) == 1 else { throw .mismatched }
    var moment = time_t(time)
    guard unsafe X509_cmp_time(X509_get0_notBefore(certificate), &moment) < 0 else {
        throw .notYetValid
    }
    guard unsafe X509_cmp_time(X509_get0_notAfter(certificate), &moment) > 0 else {
        throw .expired
    }
}

// Without it OpenSSL would ask on the terminal.
private func refusePassphrase(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { -1 }

private func reading<Found>(
    _ bytes: Span<UInt8>, _ read: (OpaquePointer) -> Found?
) -> Found? {
    unsafe bytes.withUnsafeBytes { bytes in
        guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
        else { return nil }
        defer { unsafe BIO_free(source) }
        return unsafe read(source)
    }
}
