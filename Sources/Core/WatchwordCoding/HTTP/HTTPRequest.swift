public import WatchwordCryptography

/// A complete request that is well-formed HTTP; nothing else about it has been validated.
public struct HTTPRequest: Sendable {
    /// The method as sent, such as `POST`.
    public let method: String
    /// The request target in origin form, as sent: percent-encoded, including the query (RFC 9112,
    /// section 3.2.1); or `*`.
    public let target: String
    /// The header fields except `Authorization`, in their original order.
    public let headers: [HTTPField]
    /// The value of `Authorization`.
    ///
    /// A request with several such fields is refused as malformed.
    public let authorization: SecretBytes?
    /// The body, which may contain codes and secrets.
    public let body: SecretBytes
    /// The numeric address of the peer; empty if there is none.
    public let peer: String

    /// Creates a request.
    public init(
        method: String, target: String, headers: [HTTPField] = [],
        authorization: SecretBytes? = nil, body: SecretBytes, peer: String
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.authorization = authorization
        self.body = body
        self.peer = peer
    }
}
