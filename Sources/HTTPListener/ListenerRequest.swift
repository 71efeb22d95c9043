public import Cryptography

/// A header field.
///
/// In a request, its name is in lower case.
public struct ListenerHeader: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value, without surrounding white space.
    public let value: String

    /// Creates a header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A complete, well-formed request within the limits.
public struct ListenerRequest: Sendable {
    /// The method, such as `POST`.
    public let method: String
    /// The path and the query as sent, still percent-encoded; or `*`.
    public let target: String
    /// The header fields except `Authorization`, in order; repeatable fields are joined.
    public let headers: [ListenerHeader]
    /// The value of `Authorization`.
    public let authorization: SecretBytes?
    /// The body, which may contain secrets.
    public let body: SecretBytes
    /// The numeric address of the peer.
    public let peer: String

    /// Creates a request.
    public init(
        method: String, target: String, headers: [ListenerHeader],
        authorization: SecretBytes?, body: SecretBytes, peer: String
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.authorization = authorization
        self.body = body
        self.peer = peer
    }
}

/// The response to a request.
public struct ListenerResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The header fields, without `Content-Length` and `Connection`.
    public let headers: [ListenerHeader]
    /// The body, which may contain secrets that are shown once.
    public let body: SecretBytes

    /// Creates a response.
    public init(status: Int, headers: [ListenerHeader] = [], body: SecretBytes) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response that is not secret.
    public init(status: Int, headers: [ListenerHeader] = [], text: String = "") {
        let bytes = Array(text.utf8)
        self.init(status: status, headers: headers, body: SecretBytes(copying: bytes.span))
    }
}

/// A request that the listener refuses before the handler sees it.
public enum ListenerRefusal: Error, CaseIterable, Hashable, Sendable {
    /// The request is not unambiguous HTTP: 400.
    case malformed
    /// A chunked body, whose length is unknown in advance: 411.
    case lengthRequired
    /// The body exceeds the limit: 413.
    case bodyTooLarge
    /// An expectation other than `100-continue`: 417.
    case unknownExpectation
    /// The headers exceed the limit: 431.
    case headersTooLarge
    /// A transfer coding other than `chunked`: 501.
    case unknownTransferCoding
    /// libmicrohttpd's parser refused the request after a valid first line, for example because of
    /// a header without a colon, an invalid length, malformed chunks, or a head that exceeds its
    /// memory.
    ///
    /// The connection is closed without a response; the refuser is called only for logging and
    /// metrics.
    case refusedByLibrary

    /// The status code of the response.
    public var status: Int {
        switch self {
        case .malformed, .refusedByLibrary: 400
        case .lengthRequired: 411
        case .bodyTooLarge: 413
        case .unknownExpectation: 417
        case .headersTooLarge: 431
        case .unknownTransferCoding: 501
        }
    }
}
