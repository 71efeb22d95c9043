/// One request with a JSON body to one server.
public struct HTTPRequest: Sendable {
    /// The protocol scheme.
    public enum Scheme: String, Hashable, Sendable {
        /// TLS 1.2 or later; the certificate and the host name are verified.
        case https
        /// Without encryption. The caller must ensure that nobody can intercept the connection.
        case http
    }

    /// The protocol scheme.
    public let scheme: Scheme
    /// The host as in a URL; an IPv6 address is in brackets.
    public let host: String
    /// The port.
    public let port: UInt16
    /// The path, including the leading slash.
    public let path: String
    /// Additional header fields.
    public let headers: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]

    /// Creates a request.
    ///
    /// The strings must be valid in a URL or in a header field, respectively; they are not checked
    /// here.
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

/// A response to a request.
public struct HTTPResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The media type with its parameters, if the server sent one.
    public let contentType: String?
    /// The number of seconds before a retry, as requested by the server; 0 if it did not specify
    /// one.
    public let retryAfter: Int
    /// The body.
    public let body: [UInt8]
}

/// Limits for a response.
public struct HTTPLimits: Sendable {
    /// How long the whole exchange may take, from the first byte sent to the last one received.
    public let timeout: Duration
    /// The maximum length of all header lines in bytes.
    public let headerBytes: Int
    /// The maximum length of the body in bytes.
    public let bodyBytes: Int

    /// Creates limits.
    public init(timeout: Duration, headerBytes: Int, bodyBytes: Int) {
        self.timeout = timeout
        self.headerBytes = headerBytes
        self.bodyBytes = bodyBytes
    }
}
