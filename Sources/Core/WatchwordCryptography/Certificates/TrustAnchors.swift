internal import COpenSSL

/// The result of checking a chain of certificates.
public enum ChainOutcome: Hashable, Sendable {
    /// The chain ends at a trust anchor.
    case anchored
    /// The chain is not accepted.
    case refused(ChainRefusal)
}

/// Why a chain of certificates is not accepted.
public enum ChainRefusal: Hashable, Sendable {
    /// There is no certificate, or there are more than eight.
    case length
    /// The chain does not end at a trust anchor.
    case notAnchored
    /// A certificate is not valid yet.
    case notYetValid
    /// A certificate has expired.
    case expired
    /// A certificate was issued by a subject that may not issue any.
    case issuer
    /// The chain is longer than one of its certificates permits.
    case pathLength
    /// A certificate has a critical extension that OpenSSL does not support.
    case criticalExtension
    /// A signature is wrong.
    case signature
    /// A key or a hash function is too weak.
    case weak
    /// OpenSSL refused the chain for a different reason.
    case other
}

// `@unchecked Sendable`: OpenSSL locks the store while it is used.
/// Certificates that are trusted: roots or intermediates.
@safe public final class TrustAnchors: @unchecked Sendable {
    /// The maximum number of certificates in a chain.
    public static let longestChain = 8

    /// The number of anchors.
    public let count: Int
    private let store: OpaquePointer

    /// Trusts these roots or intermediate certificates.
    public init(_ certificates: [Certificate]) throws(CryptographyFailure) {
        guard let store = unsafe X509_STORE_new() else { throw CryptographyFailure(.certificate) }
        unsafe self.store = store
        count = certificates.count
        for certificate in certificates {
            let isAdded = unsafe certificate.handle.withHandle {
                unsafe X509_STORE_add_cert(store, $0)
            }
            guard isAdded == 1 else { throw CryptographyFailure(.certificate) }
        }
    }

    deinit { unsafe X509_STORE_free(store) }

    /// Checks whether `chain`, leaf first, ends at an anchor.
    ///
    /// This checks signatures, validity periods, who may issue certificates, path lengths, critical
    /// extensions, and that no key or hash function has less than 112 bits of strength. Nothing is
    /// fetched, and revocation is not checked. Certificates that the path does not need are
    /// ignored.
    ///
    /// - Parameter time: Unix seconds.
    public func check(
        _ chain: [Certificate], at time: Int64
    ) throws(CryptographyFailure) -> ChainOutcome {
        guard let leaf = chain.first, chain.count <= Self.longestChain else {
            return .refused(.length)
        }
        guard let context = unsafe X509_STORE_CTX_new(), let others = unsafe OPENSSL_sk_new_null()
        else { throw CryptographyFailure(.certificate) }
        defer {
            unsafe OPENSSL_sk_free(others)
            unsafe X509_STORE_CTX_free(context)
            ERR_clear_error()
        }
        for certificate in chain.dropFirst() {
            let isAdded = unsafe certificate.handle.withHandle {
                unsafe OPENSSL_sk_push(others, UnsafeRawPointer($0)) > 0
            }
            guard isAdded else { throw CryptographyFailure(.certificate) }
        }
        let hasBegun = unsafe leaf.handle.withHandle {
            unsafe X509_STORE_CTX_init(context, store, $0, others) == 1
        }
        guard hasBegun, let parameters = unsafe X509_STORE_CTX_get0_param(context) else {
            throw CryptographyFailure(.certificate)
        }
        // An anchor may be an intermediate certificate.
        guard unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1
        else { throw CryptographyFailure(.certificate) }
        unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(time))
        unsafe X509_VERIFY_PARAM_set_depth(parameters, Int32(Self.longestChain))
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        let isValid = withExtendedLifetime(chain) {
            unsafe X509_verify_cert(context) == 1
        }
        guard !isValid else { return .anchored }
        return .refused(ChainRefusal(unsafe X509_STORE_CTX_get_error(context)))
    }
}

extension TrustAnchors {
    /// Reads certificates in PEM; other text between them is ignored.
    public static func certificates(
        pem: Span<UInt8>
    ) throws(CryptographyError) -> [Certificate] {
        defer { ERR_clear_error() }
        var certificates: [Certificate] = []
        guard let source = unsafe BIO_new(BIO_s_mem()) else { throw .notACertificate }
        defer { unsafe BIO_free(source) }
        let isCopied = unsafe pem.withUnsafeBytes { bytes in
            guard let count = Int32(exactly: bytes.count) else { return false }
            return unsafe BIO_write(source, bytes.baseAddress, count) == count
        }
        guard isCopied else { throw .notACertificate }
        while let found = unsafe PEM_read_bio_X509(source, nil, nil, nil) {
            defer { unsafe X509_free(found) }
            certificates.append(try Certificate(unsafe encoded(found)))
        }
        // OpenSSL reports the end of the text as a missing first line.
        let end = ERR_peek_last_error()
        guard !certificates.isEmpty, ERR_GET_REASON(end) == PEM_R_NO_START_LINE else {
            throw .notACertificate
        }
        return certificates
    }

    private static func encoded(_ certificate: OpaquePointer) -> [UInt8] {
        let count = unsafe i2d_X509(certificate, nil)
        var encoded = [UInt8](repeating: 0, count: Int(max(count, 0)))
        unsafe encoded.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            _ = unsafe i2d_X509(certificate, &next)
        }
        return encoded
    }
}

extension ChainRefusal {
    /// The reason for one of OpenSSL's codes.
    fileprivate init(_ code: Int32) {
        switch code {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            self = .notAnchored
        case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
        case X509_V_ERR_INVALID_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN, X509_V_ERR_INVALID_NON_CA:
            self = .issuer
        case X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_CERT_CHAIN_TOO_LONG: self = .pathLength
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: self = .criticalExtension
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: self = .signature
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            self = .weak
        default: self = .other
        }
    }
}
