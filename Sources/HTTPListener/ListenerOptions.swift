public import Cryptography

/// What a client may ask of the listener.
public struct ListenerLimits: Sendable {
    /// Bytes of a request's body.
    public var body = 64 << 10
    /// Bytes of a request's first line and headers together.
    public var headers = 16 << 10
    /// Connections at a time; each is an open file, and takes some 70 KB.
    public var connections = 4_096
    /// Connections at a time from one address (an IPv6 network of 64 bits counts as one).
    public var connectionsPerAddress = 200
    /// How long a client may take from connecting, or from its last answer, to the end of its headers.
    public var headerTime = Duration.seconds(15)
    /// How long it may take for the body.
    public var bodyTime = Duration.seconds(15)
    /// How long it may take to fetch the answer.
    public var answerTime = Duration.seconds(15)

    /// How long a connection may be used: the last answer before that closes it.
    public var connectionLifetime = Duration.seconds(3_600)
    /// How long one may be used that knows a certificate that was replaced.
    public var retiredLifetime = Duration.seconds(300)

    /// The usual limits.
    public init() {}
}

/// A certificate chain and its private key, both in PEM.
public struct TLSIdentity: Sendable {
    let certificate: [UInt8]
    let key: SecretBytes

    /// Takes what was found to belong together.
    public init(certificate: [UInt8], key: SecretBytes) {
        self.certificate = certificate
        self.key = key
    }
}

/// Why nothing listens.
public enum ListenerFailure: Error, Hashable, Sendable {
    /// A system call failed: `bind` with `EADDRINUSE`, most often.
    case system(call: String, number: Int32)
    /// libmicrohttpd did not start; it says no more than that.
    case notStarted
    /// So many earlier certificates are still in use by open connections.
    case earlierCertificatesInUse(Int)
}
