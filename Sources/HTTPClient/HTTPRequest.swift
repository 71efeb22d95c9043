/// One request with a JSON body to one server.
public struct HTTPRequest: Sendable {
    /// How the server is talked to.
    public enum Scheme: String, Hashable, Sendable {
        /// TLS 1.2 or newer, the certificate and the host's name checked.
        case https
        /// In the clear; whoever asks for it has seen to it that nobody listens on the way.
        case http
    }

    /// How the server is talked to.
    public let scheme: Scheme
    /// The host as it stands in an address; an IPv6 address in brackets.
    public let host: String
    /// The port.
    public let port: UInt16
    /// The path, from its first slash on.
    public let path: String
    /// What is said beside the body, name and value.
    public let headers: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]

    /// Puts a request together; the texts must be fit for an address and a header, which nobody checks here.
    public init(
        scheme: Scheme, host: String, port: UInt16, path: String,
        headers: [(name: String, value: String)], body: [UInt8]
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.headers = headers
        self.body = body
    }

    var address: String { "\(scheme.rawValue)://\(host):\(port)\(path)" }
}

/// What came back.
public struct HTTPResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The media type with its parameters, if the server named one.
    public let contentType: String?
    /// For how many seconds the server asks to be left alone; 0 when it does not say.
    public let retryAfter: Int
    /// The body.
    public let body: [UInt8]
}

/// How much of a stranger's answer is taken.
public struct HTTPLimits: Sendable {
    /// Milliseconds from the first byte sent to the last one received.
    public let milliseconds: Int
    /// Bytes of all header lines together.
    public let headerBytes: Int
    /// Bytes of the body.
    public let bodyBytes: Int

    /// Sets the limits.
    public init(milliseconds: Int, headerBytes: Int, bodyBytes: Int) {
        self.milliseconds = milliseconds
        self.headerBytes = headerBytes
        self.bodyBytes = bodyBytes
    }
}
