public import WatchwordCryptography

/// A response, complete except for `Content-Length`, `Connection` and `Date`.
public struct HTTPResponse: Sendable {
    /// The status code (RFC 9110, section 15).
    public let status: Int
    /// The header fields, in the order in which they are sent.
    public let headers: [HTTPField]
    /// The body, which may contain secrets that are shown only once.
    public let body: SecretBytes

    /// Whether the request proved that an application sent it; the listener then keeps room for
    /// connections from its address.
    public let isAuthenticated: Bool

    /// Creates a response.
    public init(
        status: Int, headers: [HTTPField] = [], body: SecretBytes, isAuthenticated: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isAuthenticated = isAuthenticated
    }

    /// Creates a response whose body is not secret.
    public init(status: Int, headers: [HTTPField] = [], text: String = "") {
        let bytes = Array(text.utf8)
        self.init(status: status, headers: headers, body: SecretBytes(copying: bytes.span))
    }

    /// The value of the first field with this name.
    public func value(of name: String) -> String? { headers.values(of: name).first }
}
