public import WatchwordSystem

/// Why there is no response.
public enum HTTPHelperFailure: Error, Hashable, Sendable {
    // The helper itself.
    /// The program did not do its work.
    case helper(HelperFailure)
    /// A library failed, with its own code.
    case library(code: Int32)

    // The connection to the server.
    /// The host name cannot be resolved.
    case unknownHost
    /// The host is not this machine, and plain HTTP is allowed only to this machine.
    case notLoopback
    /// The server is not listening, or cannot be reached.
    case unreachable(SystemCallFailure)
    /// The timeout expired.
    case timedOut
    /// The connection was lost.
    case connectionLost

    // The server.
    /// The server's certificate cannot be trusted.
    case certificate(CertificateFault)
    /// The TLS handshake failed.
    case handshake
    /// There are no trusted authorities, or their file contains none.
    case authorities
    /// The response is not HTTP, not JSON, or not a response to the request.
    case badAnswer
    /// The response exceeds a size limit.
    case tooLarge

    /// What is wrong with a certificate.
    public enum CertificateFault: UInt8, CaseIterable, Hashable, Sendable {
        case unknownAuthority = 1
        case expired
        case notYetValid
        case otherHost
        case other
    }
}
