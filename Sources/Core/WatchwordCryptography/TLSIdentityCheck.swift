internal import COpenSSL

/// Why a certificate and a key cannot be used for a TLS server.
public enum TLSIdentityFault: Hashable, Sendable {
    /// The file has no certificate in PEM format.
    case noCertificate
    /// The file has no private key in PEM format, or the key is encrypted.
    case noKey
    /// The key does not belong to the certificate.
    case mismatched
    /// The certificate is not valid yet.
    case notYetValid
    /// The certificate has expired.
    case expired
}

/// Checks that a private key matches a certificate (the first one in its file), and that the
/// certificate is valid at `time`.
///
/// Its issuer and names are not checked; that is the clients' job.
///
/// - Parameter time: Unix seconds.
/// - Returns: what is wrong, or `nil`.
public func checkTLSIdentity(
    certificate: Span<UInt8>, key: SecretBytes, at time: Int64
) -> TLSIdentityFault? {
    let found = unsafe reading(certificate) { source in
        unsafe PEM_read_bio_X509(source, nil, refusePassphrase, nil)
    }
    guard let certificate = unsafe found else { return .noCertificate }
    defer { unsafe X509_free(certificate) }
    let foundKey = unsafe key.withBytes { key in
        unsafe reading(key) { unsafe PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) }
    }
    // Our error states what failed; do not let OpenSSL's error queue grow.
    defer { ERR_clear_error() }
    guard let key = unsafe foundKey else { return .noKey }
    defer { unsafe EVP_PKEY_free(key) }
    guard unsafe X509_check_private_key(certificate, key) == 1 else { return .mismatched }
    var moment = time_t(time)
    guard unsafe X509_cmp_time(X509_get0_notBefore(certificate), &moment) < 0 else {
        return .notYetValid
    }
    guard unsafe X509_cmp_time(X509_get0_notAfter(certificate), &moment) > 0 else {
        return .expired
    }
    return nil
}

// Otherwise OpenSSL would ask for a passphrase on the terminal.
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
