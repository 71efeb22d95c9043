public import WatchwordCryptography

/// Limits for clients of the listener.
public struct ListenerLimits: Sendable {
    /// The maximum size of a request's body in bytes.
    public var body = 64 << 10
    /// The maximum size of a request's first line and headers in bytes.
    public var headers = 16 << 10
    /// The maximum number of connections; each one is an open file and needs about 70 KB.
    ///
    /// When nearly as many are open, a new one replaces another one.
    public var connections = 4_096
    /// The maximum number of connections from one address (an IPv6 /64 network counts as one; the
    /// networks of a /48 together have four times as many).
    public var connectionsPerAddress = 200
    /// Whether an address belongs to a proxy, for which that limit does not hold.
    public var isProxy: @Sendable (_ address: String) -> Bool = { _ in false }
    /// The time from connecting, or from the previous response, to the end of the headers.
    public var headerTimeout = Duration.seconds(15)
    /// The time for the body.
    public var bodyTimeout = Duration.seconds(15)
    /// The time for receiving the response.
    public var responseTimeout = Duration.seconds(15)

    /// The maximum lifetime of a connection; the last response within it closes the connection.
    public var connectionLifetime = Duration.seconds(3_600)
    /// The remaining lifetime of a connection after its certificate was replaced.
    public var retiredLifetime = Duration.seconds(300)

    /// The default limits.
    public init() {}
}

/// A certificate chain and its private key, both in PEM.
public struct TLSIdentity: Sendable {
    let certificate: [UInt8]
    let key: SecretBytes

    /// Combines a certificate and a key that are known to match.
    public init(certificate: [UInt8], key: SecretBytes) {
        self.certificate = certificate
        self.key = key
    }
}

/// Why the listener could not start or load a certificate.
public enum ListenerFailure: Error, Hashable, Sendable {
    /// A system call failed, most often `bind` with `EADDRINUSE`.
    case system(call: String, number: Int32)
    /// libmicrohttpd did not start and gave no reason.
    case notStarted
    /// This many earlier certificates are still in use by open connections.
    case earlierCertificatesInUse(Int)
}
