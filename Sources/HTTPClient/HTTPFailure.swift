internal import CCurl

/// Why there is no response.
public enum HTTPFailure: Error, Hashable, Sendable {
    /// The server's certificate is not to be trusted.
    case certificate(CertificateFault)
    /// TLS did not come about: no version or cipher in common, or no TLS at all.
    case handshake
    /// The authorities to go by are no certificates.
    case authorities
    /// It took too long.
    case timedOut
    /// The connection broke before the whole answer was there.
    case connectionLost
    /// What came back is no HTTP.
    case notHTTP
    /// The answer is over a limit.
    case tooLarge
    /// There was no memory left.
    case outOfMemory
    /// libcurl could not do its work, for a reason that none of the above names.
    case library(code: Int32)

    /// What is wrong with a certificate.
    public enum CertificateFault: UInt8, CaseIterable, Hashable, Sendable {
        /// No authority that is trusted vouches for it.
        case unknownAuthority = 1
        /// It has expired.
        case expired
        /// It is not valid yet; is the clock right?
        case notYetValid
        /// It is another host's.
        case otherHost
        /// Something else.
        case other
    }
}

extension HTTPFailure {
    /// Translates libcurl's code; `verification` is OpenSSL's, of the certificate.
    init(_ code: CURLcode, verification: Int) {
        self =
            switch code {
            case CURLE_PEER_FAILED_VERIFICATION: .certificate(CertificateFault(verification))
            case CURLE_SSL_CONNECT_ERROR: .handshake
            case CURLE_SSL_CACERT_BADFILE: .authorities
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
                .connectionLost
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
                .notHTTP
            // Our own receivers stop a transfer that is over a limit.
            case CURLE_WRITE_ERROR: .tooLarge
            case CURLE_OUT_OF_MEMORY: .outOfMemory
            default: .library(code: Int32(bitPattern: code.rawValue))
            }
    }
}

extension HTTPFailure.CertificateFault {
    /// Reads OpenSSL's result (`X509_V_ERR_…`).
    ///
    /// 0 means that the chain is sound, so it is the name; 1 is what libcurl starts from, and leaves when it
    /// finds the name wrong before it has asked for the chain's result.
    fileprivate init(_ verification: Int) {
        self =
            switch verification {
            case 0, 1, 62: .otherHost
            case 2, 18, 19, 20, 21: .unknownAuthority
            case 9: .notYetValid
            case 10: .expired
            default: .other
            }
    }
}
