internal import CCurl
public import Courier

/// Why there is no response.
public enum HTTPFailure: Error, Hashable, Sendable {
    /// The server's certificate could not be verified.
    case certificate(HTTPHelperFailure.CertificateFault)
    /// The TLS handshake failed: no common version or cipher, or no TLS at all.
    case handshake
    /// The authorities are not valid certificates.
    case authorities
    /// The timeout expired.
    case timedOut
    /// The connection was closed before the response was complete.
    case connectionLost
    /// The response is not HTTP.
    case notHTTP
    /// The response exceeds a limit.
    case tooLarge
    /// Memory ran out.
    case outOfMemory
    /// libcurl failed for another reason.
    case library(code: Int32)
}

extension HTTPFailure {
    /// Converts libcurl's code; `verification` is OpenSSL's verification result.
    init(_ code: CURLcode, verification: Int) {
        self =
            switch code {
            case CURLE_PEER_FAILED_VERIFICATION: .certificate(.init(verification))
            case CURLE_SSL_CONNECT_ERROR: .handshake
            case CURLE_SSL_CACERT_BADFILE: .authorities
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
                .connectionLost
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
                .notHTTP
            // Our receivers abort a transfer that exceeds a limit.
            case CURLE_WRITE_ERROR: .tooLarge
            case CURLE_OUT_OF_MEMORY: .outOfMemory
            default: .library(code: Int32(bitPattern: code.rawValue))
            }
    }
}

extension HTTPHelperFailure.CertificateFault {
    /// Converts OpenSSL's result (`X509_V_ERR_…`).
    ///
    /// 0 means that the chain is valid, so the name is wrong. 1 is libcurl's initial value, which
    /// remains if the name is wrong and libcurl has not asked for the chain's result.
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
